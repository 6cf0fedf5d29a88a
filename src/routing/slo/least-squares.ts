/** Least squares for a handful of coefficients. */

/** A column whose part that the columns before do not explain is smaller than this share of it tells nothing of its own. */
const DEPENDENT_BELOW = 1e-9;

/**
 * Coefficients, one a column, that bring the sum of the columns nearest to `values`. A column that depends on those before it gets
 * 0: three coefficients through two points become two. Columns and values are of one length; none: all coefficients are 0.
 *
 * By modified Gram-Schmidt: column j = Σ upper[i][j]·direction i, so that back substitution gives the coefficients.
 */
export function leastSquares(columns: readonly (readonly number[])[], values: readonly number[]): number[] {
  const directions: { column: number; unit: number[] }[] = [];
  const upper = columns.map(() => columns.map(() => 0));
  for (const [column, entries] of columns.entries()) {
    let rest = [...entries];
    for (const { column: before, unit } of directions) {
      upper[before][column] = dot(unit, rest);
      rest = minus(rest, unit, upper[before][column]);
    }
    const length = Math.sqrt(dot(rest, rest));
    if (!(length > DEPENDENT_BELOW * Math.sqrt(dot(entries, entries)))) continue;
    upper[column][column] = length;
    directions.push({ column, unit: rest.map((entry) => entry / length) });
  }
  const coefficients = columns.map(() => 0);
  let rest = [...values];
  const shares = directions.map(({ unit }) => {
    const share = dot(unit, rest);
    rest = minus(rest, unit, share);
    return share;
  });
  for (const [position, { column }] of [...directions.entries()].reverse()) {
    const known = columns.reduce((sum, _, later) => (later > column ? sum + upper[column][later] * coefficients[later] : sum), 0);
    coefficients[column] = (shares[position] - known) / upper[column][column];
  }
  return coefficients;
}

function dot(left: readonly number[], right: readonly number[]): number {
  return left.reduce((sum, entry, row) => sum + entry * right[row], 0);
}

function minus(entries: readonly number[], unit: readonly number[], share: number): number[] {
  return entries.map((entry, row) => entry - share * unit[row]);
}
