/** Reads token ids as people paste them. */

const TOKEN_MAX = 0xffff_ffff;

/** The service takes no longer prompt. */
const TOKENS_MAX = 1_048_576;

/** Characters of what was found that a message quotes. */
const EXCERPT_CHARACTERS = 24;

export type TokenIds = { kind: "tokens"; tokens: Uint32Array } | { kind: "unreadable"; problem: string };

/**
 * The ids in `text`: a JSON array, an object with such an array as `token_ids` or `tokens`, or numbers with spaces, commas or lines
 * between.
 */
export function readTokenIds(text: string): TokenIds {
  const trimmed = text.trim();
  if (trimmed === "") return unreadable("There are no token ids yet: paste some, or open a file");
  return trimmed.startsWith("{") ? readObject(trimmed) : readList(trimmed);
}

function readObject(text: string): TokenIds {
  try {
    const { token_ids: tokenIds, tokens = tokenIds } = JSON.parse(text) as Record<string, unknown>;
    if (Array.isArray(tokens)) return collect(tokens.map(String));
    return unreadable("Found a JSON object without an array token_ids or tokens");
  } catch {
    return unreadable("Found a JSON object that does not end, or is not JSON");
  }
}

function readList(text: string): TokenIds {
  return collect(
    text
      .replace(/^\[/, "")
      .replace(/\]$/, "")
      .split(/[\s,]+/)
      .filter((part) => part !== ""),
  );
}

function collect(parts: readonly string[]): TokenIds {
  if (parts.length > TOKENS_MAX) return unreadable(`Found ${parts.length} token ids, at most ${TOKENS_MAX} are taken`);
  const tokens = new Uint32Array(parts.length);
  for (const [position, part] of parts.entries()) {
    const token = Number(part);
    if (!/^\d+$/.test(part) || token > TOKEN_MAX) {
      return unreadable(`Found ${excerpt(part)} as number ${position + 1}: a token id is an integer from 0 to ${TOKEN_MAX}`);
    }
    tokens[position] = token;
  }
  return { kind: "tokens", tokens };
}

function unreadable(problem: string): TokenIds {
  return { kind: "unreadable", problem };
}

function excerpt(text: string): string {
  return JSON.stringify(text.length > EXCERPT_CHARACTERS ? `${text.slice(0, EXCERPT_CHARACTERS)}…` : text);
}
