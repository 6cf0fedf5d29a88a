/** What every body form comes to. */

export interface DecodedBody {
  /** Tokens written from the start of token memory on. */
  tokenCount: number;
  /** Every field but token_ids, as sent: the caller checks them against its schema. */
  fields: Record<string, unknown>;
}
