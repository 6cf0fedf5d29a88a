/** A project that depends on Warmpath as a package: packed, installed from the tarball, compiled by a compiler of its own. */

import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { devDependencies, name, version } from "../../../package.json";

const ROOT = join(import.meta.dir, "../../..");

/** As strict as a project can be, since what is strict there must not find fault with what the package brings. */
const COMPILER_OPTIONS = {
  target: "esnext",
  module: "preserve",
  moduleResolution: "bundler",
  types: ["bun"],
  noEmit: true,
  skipLibCheck: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
};

export class DependentProject {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Packs the package and installs it in an empty folder; what is in Bun's cache is not downloaded. */
  static async create(): Promise<DependentProject> {
    const folder = await mkdtemp(join(tmpdir(), "warmpath-dependent-"));
    const project = new DependentProject(folder);
    await run([process.execPath, "pm", "pack", "--destination", folder], ROOT);
    await project.#write("package.json", {
      type: "module",
      dependencies: { warmpath: `file:./${name}-${version}.tgz` },
      devDependencies: { "@types/bun": devDependencies["@types/bun"], typescript: devDependencies.typescript },
    });
    await project.#write("tsconfig.json", { compilerOptions: COMPILER_OPTIONS, include: ["*.ts"] });
    await run([process.execPath, "install", "--prefer-offline"], folder);
    return project;
  }

  /** Where the package is installed. */
  get package(): string {
    return join(this.folder, "node_modules", name);
  }

  /** Puts a program of the tree into the project; returns its path there. */
  async copy(path: string): Promise<string> {
    const copied = join(this.folder, basename(path));
    await copyFile(join(ROOT, path), copied);
    return copied;
  }

  async writeProgram(fileName: string, text: string): Promise<void> {
    await Bun.write(join(this.folder, fileName), text);
  }

  /** What the compiler says of the project's programs; empty when nothing is wrong. */
  compile(): string {
    return Bun.spawnSync([process.execPath, "x", "--no-install", "tsc"], { cwd: this.folder }).stdout.toString();
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true });
  }

  async #write(fileName: string, content: object): Promise<void> {
    await Bun.write(join(this.folder, fileName), JSON.stringify(content));
  }
}

async function run(command: string[], cwd: string): Promise<void> {
  const { exited, stdout, stderr } = Bun.spawn(command, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const [exitCode, output, errors] = await Promise.all([exited, stdout.text(), stderr.text()]);
  if (exitCode !== 0) throw new Error(`Cannot run ${command.join(" ")}: exit code ${exitCode}\n${output}${errors}`);
}
