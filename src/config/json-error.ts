/** Finds where text stops being JSON, which Bun's `JSON.parse` does not tell. */

// Each pattern is one token with the whitespace before it, matched at `lastIndex` only.
const STRING = /[ \t\n\r]*"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;
const NUMBER_OR_WORD = /[ \t\n\r]*(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;
const OPEN_OBJECT = /[ \t\n\r]*\{/y;
const CLOSE_OBJECT = /[ \t\n\r]*\}/y;
const OPEN_ARRAY = /[ \t\n\r]*\[/y;
const CLOSE_ARRAY = /[ \t\n\r]*\]/y;
const COLON = /[ \t\n\r]*:/y;
const COMMA = /[ \t\n\r]*,/y;
const WHITESPACE = /[ \t\n\r]*/y;

/**
 * Offset of the first token that JSON does not permit, or `text.length` when there is none: the text is whole or ends too early.
 */
export function jsonErrorOffset(text: string): number {
  let offset = 0;

  function take(token: RegExp): boolean {
    token.lastIndex = offset;
    const found = token.test(text);
    if (found) offset = token.lastIndex;
    return found;
  }
  function takeValue(): boolean {
    if (take(OPEN_OBJECT)) return takeList(takeMember, CLOSE_OBJECT);
    if (take(OPEN_ARRAY)) return takeList(takeValue, CLOSE_ARRAY);
    return take(STRING) || take(NUMBER_OR_WORD);
  }
  function takeMember(): boolean {
    return take(STRING) && take(COLON) && takeValue();
  }
  function takeList(takeItem: () => boolean, close: RegExp): boolean {
    if (take(close)) return true;
    do {
      if (!takeItem()) return false;
    } while (take(COMMA));
    return take(close);
  }

  takeValue();
  take(WHITESPACE);
  return offset;
}

/** Line and column of an offset, both from 1, columns in UTF-16 units. */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1) as string).length + 1 };
}
