/**
 * A strict walk over JSON text (RFC 8259) that knows the byte where it stands: `JSON.parse` makes the values, the cursor says
 * where they begin and end and where the text goes wrong. Every method leaves the cursor behind what it has read, or throws a 400
 * problem.
 */

import { excerpt, Problem } from "../problem.ts";

/** Deeper than any field of a request; bounds the recursion. */
const DEPTH_MAX = 32;

const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LETTER_E = 0x65;
const LETTER_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const LITERALS = new Map(["true", "false", "null"].map((word) => [word.charCodeAt(0), new TextEncoder().encode(word)]));
const ESCAPES = new Set(new TextEncoder().encode('"\\/bfnrt'));

const decoder = new TextDecoder("utf-8", { fatal: true });

export class JsonCursor {
  readonly bytes: Uint8Array;
  /** The next byte to read. */
  offset: number;

  constructor(bytes: Uint8Array, offset = 0) {
    this.bytes = bytes;
    this.offset = offset;
  }

  /** Skips whitespace and returns the byte after it without taking it; -1 at the end. */
  peek(): number {
    const { bytes } = this;
    let offset = this.offset;
    while (isWhitespace(bytes[offset])) offset++;
    this.offset = offset;
    return bytes[offset] ?? -1;
  }

  /** Takes the object that must come next, each field there once; `visit` must read the value of the one that it is given. */
  takeObject(visit: (name: string) => void): void {
    if (this.peek() !== OPEN_BRACE) this.fail("an object is needed");
    const names = new Set<string>();
    this.#walkObject((name, nameOffset) => {
      if (names.has(name)) {
        throw malformedJson(nameOffset, `found the field ${excerpt(name)} again, each field may be there once`);
      }
      names.add(name);
      visit(name);
    });
  }

  /** Takes the value that comes next, as `JSON.parse` makes it. */
  takeValue(): unknown {
    this.peek();
    const start = this.offset;
    this.skipValue();
    return JSON.parse(this.textFrom(start));
  }

  /** Sees that nothing comes after the body's object. */
  takeEnd(): void {
    if (this.peek() !== -1) this.fail("the end of the body is needed after the object");
  }

  /** Walks an array from its bracket on; `visit` must read each value. */
  walkArray(visit: () => void): void {
    this.#walkList(CLOSE_BRACKET, '"," or "]"', visit);
  }

  /** Takes the value that comes next, whatever it is. */
  skipValue(depth = 0): void {
    const first = this.peek();
    if (depth > DEPTH_MAX) this.fail(`at most ${DEPTH_MAX} levels of nesting are allowed`);
    if (first === QUOTE) this.#skipString();
    else if (first === OPEN_BRACE) this.#walkObject(() => this.skipValue(depth + 1));
    else if (first === OPEN_BRACKET) {
      if (depth === DEPTH_MAX || !this.#skipIntegers()) this.walkArray(() => this.skipValue(depth + 1));
    } else if (first === MINUS || isDigit(first)) this.#skipNumber();
    else this.#skipLiteral(first);
  }

  /** The text between `start` and the cursor; a 400 problem when it is not UTF-8. */
  textFrom(start: number): string {
    try {
      return decoder.decode(this.bytes.subarray(start, this.offset));
    } catch (cause) {
      throw malformedJson(start, "the text that begins there is not UTF-8", cause);
    }
  }

  /** Throws the 400 problem of this place: cut off at the end of the body, else the byte found and what `needed` says. */
  fail(needed: string): never {
    const byte = this.bytes[this.offset];
    if (byte === undefined) throw malformedJson(this.offset, `the body is cut off, ${needed}`);
    const found =
      byte > 0x20 && byte < 0x7f ? excerpt(String.fromCharCode(byte)) : `byte 0x${byte.toString(16).padStart(2, "0")}`;
    throw malformedJson(this.offset, `found ${found}, ${needed}`);
  }

  /** Walks an object from its brace on; `visit` must read the value of the member that it is given the name of. */
  #walkObject(visit: (name: string, nameOffset: number) => void): void {
    this.#walkList(CLOSE_BRACE, '"," or "}"', () => {
      if (this.peek() !== QUOTE) this.fail("a name in quotes is needed");
      const nameOffset = this.offset;
      this.#skipString();
      const name = JSON.parse(this.textFrom(nameOffset)) as string;
      if (this.peek() !== COLON) this.fail('":" is needed');
      this.offset++;
      visit(name, nameOffset);
    });
  }

  #walkList(close: number, separators: string, takeItem: () => void): void {
    this.offset++;
    if (this.peek() === close) {
      this.offset++;
      return;
    }
    for (;;) {
      takeItem();
      const separator = this.peek();
      if (separator !== close && separator !== COMMA) this.fail(`${separators} is needed`);
      this.offset++;
      if (separator === close) return;
    }
  }

  /** Takes an array of plain integers, which prompts are, in one tight loop; false, and nothing taken, where it is anything else. */
  #skipIntegers(): boolean {
    const { bytes } = this;
    let offset = this.offset + 1;
    for (; ; offset++) {
      // Encoders write "," or ", ".
      if (bytes[offset] === SPACE) offset++;
      // `byte ^ ZERO` is the digit; it is above 9 for any other byte, and for undefined beyond the end.
      const first = bytes[offset] ^ ZERO;
      let digit = bytes[++offset] ^ ZERO;
      if (first > 9 || (first === 0 && digit <= 9)) return false;
      while (digit <= 9) digit = bytes[++offset] ^ ZERO;
      if (bytes[offset] === COMMA) continue;
      if (bytes[offset] !== CLOSE_BRACKET) return false;
      this.offset = offset + 1;
      return true;
    }
  }

  #skipString(): void {
    for (;;) {
      const byte = this.bytes[++this.offset] ?? -1;
      if (byte === QUOTE) break;
      if (byte === BACKSLASH) this.#skipEscape();
      else if (byte < 0x20) this.fail("the closing quote of a string is needed");
    }
    this.offset++;
  }

  /** From the backslash to the last byte of the escape. */
  #skipEscape(): void {
    const letter = this.bytes[++this.offset] ?? -1;
    if (ESCAPES.has(letter)) return;
    if (letter !== LETTER_U) this.fail("an escape of JSON is needed, such as \\n or \\u00e9");
    for (let digit = 0; digit < 4; digit++) {
      if (!isHexDigit(this.bytes[++this.offset] ?? -1)) this.fail("four hexadecimal digits after \\u are needed");
    }
  }

  #skipNumber(): void {
    if (this.bytes[this.offset] === MINUS) this.offset++;
    if (this.bytes[this.offset] === ZERO) this.offset++;
    else this.#skipDigits();
    if (this.bytes[this.offset] === DOT) {
      this.offset++;
      this.#skipDigits();
    }
    if (((this.bytes[this.offset] ?? 0) | 0x20) === LETTER_E) {
      this.offset++;
      const sign = this.bytes[this.offset];
      if (sign === MINUS || sign === PLUS) this.offset++;
      this.#skipDigits();
    }
  }

  #skipDigits(): void {
    if (!isDigit(this.bytes[this.offset] ?? -1)) this.fail("a digit is needed");
    while (isDigit(this.bytes[this.offset] ?? -1)) this.offset++;
  }

  #skipLiteral(first: number): void {
    for (const letter of LITERALS.get(first) ?? this.fail("a value is needed")) {
      if (this.bytes[this.offset] !== letter) this.fail("true, false or null is needed");
      this.offset++;
    }
  }
}

/** The 400 problem of a body that is not JSON at byte `offset`. */
function malformedJson(offset: number, what: string, cause?: unknown): Problem {
  return new Problem("malformed-body", {
    detail: `Cannot decode the JSON body at byte ${offset}: ${what}`,
    errors: [{ detail: what, offset }],
    cause,
  });
}

function isWhitespace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

function isHexDigit(byte: number): boolean {
  const letter = byte | 0x20;
  return isDigit(byte) || (letter >= 0x61 && letter <= 0x66);
}
