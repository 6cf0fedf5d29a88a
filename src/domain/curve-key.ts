/** Keys of ZeroMQ's CURVE as text: 32 bytes in Z85, ZeroMQ's printable form, in which five characters stand for four bytes. */

const Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

export const CURVE_KEY_CHARACTERS = 40;

const CHARACTERS_PER_WORD = 5;

/** Whether libzmq takes `text` for a key: public and secret ones look alike. */
export function isCurveKey(text: string): boolean {
  if (text.length !== CURVE_KEY_CHARACTERS) return false;
  for (let start = 0; start < CURVE_KEY_CHARACTERS; start += CHARACTERS_PER_WORD) {
    let word = 0;
    for (const character of text.slice(start, start + CHARACTERS_PER_WORD)) {
      const digit = Z85.indexOf(character);
      if (digit === -1) return false;
      word = word * Z85.length + digit;
    }
    if (word >= 2 ** 32) return false;
  }
  return true;
}
