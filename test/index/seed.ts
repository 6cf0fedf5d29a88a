/** The seed of what is random in this folder: WARMPATH_TEST_SEED, or the time. */

export const TEST_SEED = Number(process.env.WARMPATH_TEST_SEED ?? Date.now() & 0x7fffffff);

/** Says how to run the file again as it ran now. */
export function printSeed(file: string): void {
  console.info(`Again: WARMPATH_TEST_SEED=${TEST_SEED} bun test ${file}`);
}
