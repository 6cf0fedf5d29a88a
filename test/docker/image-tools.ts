/**
 * What the image's test needs: root that may make mount namespaces, buildah, runc and debootstrap. It takes a minute and a network, so
 * it runs where WARMPATH_TEST_IMAGE asks for it, and then all of that must be there.
 */

const TOOLS = ["buildah", "runc", "debootstrap"];

/** Debian puts some of them where only root looks. */
const PATH = `${Bun.env.PATH}:/usr/sbin:/sbin`;

/** Whether the image is to be built and run here. Throws when it is to be and cannot. */
export function isImageTested(): boolean {
  if ((Bun.env.WARMPATH_TEST_IMAGE ?? "") === "") {
    console.warn("The image is not built: WARMPATH_TEST_IMAGE is not set");
    return false;
  }
  const lacking = TOOLS.filter((tool) => Bun.which(tool, { PATH }) === null);
  if (process.getuid?.() !== 0) lacking.push("root");
  if (lacking.length === 0) return true;
  throw new Error(`Cannot build the image: ${lacking.join(", ")} is needed`);
}

/** Runs a command to its end and returns its standard output. Throws with what it wrote when it fails. */
export async function succeed(...command: string[]): Promise<string> {
  const child = Bun.spawn(command, { env: { ...Bun.env, PATH }, stdio: ["ignore", "pipe", "pipe"] });
  const [output, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (code !== 0)
    throw new Error(`Cannot run ${command.join(" ")}: exit code ${code}\n${output.slice(-4000)}${errors.slice(-4000)}`);
  return output;
}
