/** What each instance has still to do: sums over its requests. Whoever takes away takes what was added, once. */

export interface Account {
  prefillRequests: number;
  prefillTokens: number;
  decodeRequests: number;
  decodeTokens: number;
  /** The sum of what its prompts were estimated to take (EPT). */
  estimatedPrefillMs: number;
}

/** What a request brings to its prefill account. */
export interface PrefillWork {
  promptTokens: number;
  ttftMs: number;
}

const EMPTY: Readonly<Account> = {
  prefillRequests: 0,
  prefillTokens: 0,
  decodeRequests: 0,
  decodeTokens: 0,
  estimatedPrefillMs: 0,
};

export class Accounts {
  /** There while there are requests on them, so that names that come and go leave nothing behind. */
  readonly #accounts = new Map<string, Account>();

  /** On all accounts. */
  get requests(): Pick<Account, "prefillRequests" | "decodeRequests"> {
    let prefillRequests = 0;
    let decodeRequests = 0;
    for (const account of this.#accounts.values()) {
      prefillRequests += account.prefillRequests;
      decodeRequests += account.decodeRequests;
    }
    return { prefillRequests, decodeRequests };
  }

  of(name: string): Readonly<Account> {
    return this.#accounts.get(name) ?? EMPTY;
  }

  addPrefill(name: string, { promptTokens, ttftMs }: PrefillWork): void {
    const account = this.#open(name);
    account.prefillRequests++;
    account.prefillTokens += promptTokens;
    account.estimatedPrefillMs += ttftMs;
  }

  addDecode(name: string, promptTokens: number): void {
    const account = this.#open(name);
    account.decodeRequests++;
    account.decodeTokens += promptTokens;
  }

  addGenerated(name: string, tokenCount: number): void {
    this.#open(name).decodeTokens += tokenCount;
  }

  takePrefill(name: string, work: PrefillWork): void {
    this.#settle(name, withoutPrefill(this.of(name), work));
  }

  /** `tokenCount` is that of the prompt and of what was generated. */
  takeDecode(name: string, tokenCount: number): void {
    this.#settle(name, withoutDecode(this.of(name), tokenCount));
  }

  clear(): void {
    this.#accounts.clear();
  }

  #open(name: string): Account {
    const account = this.#accounts.get(name) ?? { ...EMPTY };
    this.#accounts.set(name, account);
    return account;
  }

  #settle(name: string, account: Account): void {
    if (account.prefillRequests === 0 && account.decodeRequests === 0) this.#accounts.delete(name);
    else this.#accounts.set(name, account);
  }
}

/** What is left on a prefill account once the request has prefilled. */
export function withoutPrefill(account: Readonly<Account>, { promptTokens, ttftMs }: PrefillWork): Account {
  const prefillRequests = account.prefillRequests - 1;
  return {
    ...account,
    prefillRequests,
    prefillTokens: account.prefillTokens - promptTokens,
    // Sums of fractions do not cancel out exactly; without requests there is nothing left to do.
    estimatedPrefillMs: prefillRequests === 0 ? 0 : Math.max(account.estimatedPrefillMs - ttftMs, 0),
  };
}

/** What is left on a decode account once the request has ended. */
export function withoutDecode(account: Readonly<Account>, tokenCount: number): Account {
  return { ...account, decodeRequests: account.decodeRequests - 1, decodeTokens: account.decodeTokens - tokenCount };
}
