/**
 * What each instance has been given to do and has not finished, from the decisions and the steps that are reported of them. No
 * account is ever negative: a request takes away what it brought, once.
 *
 *   schedule        prefill: requests + 1, tokens + n, time + ttft(n)       decode: requests + 1, tokens + n
 *   finish-prefill  prefill: requests − 1, tokens − n, time − ttft(n)       decode: tokens + 1
 *   generate                                                                decode: tokens + those of the step
 *   finish-decode                                                           decode: requests − 1, tokens − (n + generated)
 *   cancel          whatever is left of both
 */

import type { RequestStep } from "../request-step.ts";
import { type Account, Accounts, type PrefillWork, withoutDecode, withoutPrefill } from "./accounts.ts";

/** A request of which nothing is heard for so long counts as cancelled: longer than any answer pauses between two tokens. */
export const SILENT_REQUEST_MS = 600_000;

/** Requests under way at most; the oldest is cancelled for a further one, and counted. */
const LEDGER_REQUESTS_MAX = 65_536;

/** A request as it is scheduled. */
export interface Booking extends PrefillWork {
  requestId: string;
  prefillName: string;
  /** Null: the prefill instance serves alone, and what it decodes is on no account. */
  decodeName: string | null;
}

interface OpenBooking extends Booking {
  isPrefilling: boolean;
  generatedTokens: number;
  heardAtMs: number;
}

export class Ledger {
  readonly #accounts = new Accounts();
  /** From the one that was heard of least recently. */
  readonly #bookings = new Map<string, OpenBooking>();
  readonly #requestsMax: number;
  #forgottenRequests = 0;
  #unknownSteps = 0;

  constructor(requestsMax: number = LEDGER_REQUESTS_MAX) {
    this.#requestsMax = requestsMax;
  }

  get forgottenRequests(): number {
    return this.#forgottenRequests;
  }

  get unknownSteps(): number {
    return this.#unknownSteps;
  }

  /** On all accounts. */
  get requests(): Pick<Account, "prefillRequests" | "decodeRequests"> {
    return this.#accounts.requests;
  }

  account(name: string): Readonly<Account> {
    return this.#accounts.of(name);
  }

  /** The account as it would be if the request were withdrawn. */
  accountWithout(requestId: string, name: string): Readonly<Account> {
    const account = this.account(name);
    const booking = this.#bookings.get(requestId);
    if (booking === undefined) return account;
    const isPrefilling = booking.isPrefilling && booking.prefillName === name;
    const left = isPrefilling ? withoutPrefill(account, booking) : account;
    return booking.decodeName === name ? withoutDecode(left, decodeTokens(booking)) : left;
  }

  has(requestId: string): boolean {
    return this.#bookings.has(requestId);
  }

  /** Takes a request off the books, where it is on them. Names the decode instance that this leaves idle. */
  withdraw(requestId: string): string[] {
    return this.#cancelAll([this.#bookings.get(requestId)]);
  }

  /** Books a request; one of the same id is cancelled first. Names the decode instances that this leaves idle. */
  schedule(booking: Booking, nowMs: number): string[] {
    const idle = this.withdraw(booking.requestId);
    if (this.#bookings.size >= this.#requestsMax) {
      this.#forgottenRequests++;
      idle.push(...this.#cancelAll([this.#bookings.values().next().value]));
    }
    this.#bookings.set(booking.requestId, { ...booking, isPrefilling: true, generatedTokens: 0, heardAtMs: nowMs });
    this.#accounts.addPrefill(booking.prefillName, booking);
    if (booking.decodeName !== null) this.#accounts.addDecode(booking.decodeName, booking.promptTokens);
    return idle.filter((name) => this.account(name).decodeRequests === 0);
  }

  /**
   * Books a step, `generate` with its tokens. A first token ends the prefill, whichever of the two steps tells of it; the prefill
   * ends once. Names the decode instance that this leaves idle, else null.
   */
  step(requestId: string, step: RequestStep, nowMs: number, tokenCount = 1): string | null {
    const booking = this.#bookings.get(requestId);
    if (booking === undefined) {
      this.#unknownSteps++;
      return null;
    }
    switch (step) {
      case "finish-prefill":
        if (booking.isPrefilling) this.#addTokens(booking, 1, nowMs);
        return null;
      case "generate":
        this.#addTokens(booking, tokenCount, nowMs);
        return null;
      case "finish-decode":
      case "cancel":
        return this.#end(booking);
    }
  }

  /** Cancels the requests of which nothing has been heard for too long. Names the decode instances that this leaves idle. */
  expire(nowMs: number): string[] {
    const silent: OpenBooking[] = [];
    for (const booking of this.#bookings.values()) {
      if (nowMs - booking.heardAtMs < SILENT_REQUEST_MS) break;
      silent.push(booking);
    }
    this.#forgottenRequests += silent.length;
    return this.#cancelAll(silent);
  }

  /** Cancels every request that has a part on the instance. Names the decode instances that this leaves idle. */
  forgetInstance(name: string): string[] {
    const involved = [...this.#bookings.values()].filter(
      ({ prefillName, decodeName, isPrefilling }) => (isPrefilling && prefillName === name) || decodeName === name,
    );
    return this.#cancelAll(involved).filter((other) => other !== name);
  }

  reset(): void {
    this.#accounts.clear();
    this.#bookings.clear();
    this.#forgottenRequests = 0;
    this.#unknownSteps = 0;
  }

  #addTokens(booking: OpenBooking, count: number, nowMs: number): void {
    this.#endPrefill(booking);
    booking.generatedTokens += count;
    booking.heardAtMs = nowMs;
    // To the end of the order.
    this.#bookings.delete(booking.requestId);
    this.#bookings.set(booking.requestId, booking);
    if (booking.decodeName !== null) this.#accounts.addGenerated(booking.decodeName, count);
  }

  #endPrefill(booking: OpenBooking): void {
    if (!booking.isPrefilling) return;
    booking.isPrefilling = false;
    this.#accounts.takePrefill(booking.prefillName, booking);
  }

  /** Takes the request off the books; the name of its decode instance when that has none left, else null. */
  #end(booking: OpenBooking): string | null {
    this.#endPrefill(booking);
    this.#bookings.delete(booking.requestId);
    const { decodeName } = booking;
    if (decodeName === null) return null;
    this.#accounts.takeDecode(decodeName, decodeTokens(booking));
    return this.account(decodeName).decodeRequests === 0 ? decodeName : null;
  }

  #cancelAll(bookings: readonly (OpenBooking | undefined)[]): string[] {
    const idle = bookings.map((booking) => (booking === undefined ? null : this.#end(booking)));
    return idle.filter((name) => name !== null);
  }
}

/** What the request has on its decode account. */
function decodeTokens({ promptTokens, generatedTokens }: OpenBooking): number {
  return promptTokens + generatedTokens;
}
