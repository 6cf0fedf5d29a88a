/** How this program is called by whoever reads its messages. */

/** The single executable's name, or the script that runs the sources. */
export const PROGRAM = Bun.isStandaloneExecutable ? "warmpath" : "bun run warmpath";

/** The service alone; from sources it has a script of its own. */
export const SERVE_PROGRAM = Bun.isStandaloneExecutable ? "warmpath [serve]" : "bun run start";
