/** Finds the names that a misspelt one was probably meant to be. */

/** How many names tie at most before a suggestion stops helping. */
const NAMES_MAX = 2;

/** The name at the smallest edit distance, two when they tie; none where half of the letters would have to change. */
export function nearestNames(text: string, names: readonly string[]): string[] {
  let nearest: string[] = [];
  let smallest = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const length = Math.max(text.length, name.length);
    // A length too far off needs that many edits by itself: no time is spent on an argument of any length.
    if (2 * Math.abs(text.length - name.length) > length) continue;
    const distance = editDistance(text, name);
    if (2 * distance > length || distance > smallest) continue;
    nearest = distance < smallest ? [name] : [...nearest, name];
    smallest = distance;
  }
  return nearest.slice(0, NAMES_MAX);
}

/** Letters to insert, delete, replace or swap with their neighbour (the optimal string alignment distance). */
export function editDistance(from: string, to: string): number {
  // Row n: distances of the first n letters of `from` to every beginning of `to`.
  let [beforeLast, last] = [[] as number[], Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      let distance = Math.min(
        (last[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (last[column - 1] as number) + (isSame ? 0 : 1),
      );
      const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (isSwap) distance = Math.min(distance, (beforeLast[column - 2] as number) + 1);
      current.push(distance);
    }
    [beforeLast, last] = [last, current];
  }
  return last[to.length] as number;
}
