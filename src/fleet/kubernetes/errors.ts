/** What goes wrong between Warmpath and the API server. Each is tried again; the kind says from where. */

export type ApiFailure =
  /** Not reached, or it asks to be left in peace: what was known can be continued from. */
  | "away"
  /** The version to continue from is no longer kept; that is ordinary after a long absence. */
  | "expired"
  /** It says no, perhaps because of the version. */
  | "refused"
  /** What it says cannot be understood, so that something may have been missed. */
  | "unreadable";

export class ApiServerError extends Error {
  readonly kind: ApiFailure;

  constructor(kind: ApiFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "ApiServerError";
    this.kind = kind;
  }
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
