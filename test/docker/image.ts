/**
 * Builds docker/Dockerfile with buildah, in a store of its own. Base images cannot be fetched from everywhere, so a fresh Debian
 * stands in for them under their names: as it is, and with the Bun that runs the tests.
 */

import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { succeed } from "./image-tools.ts";

const ROOT = join(import.meta.dir, "../..");
const DOCKERFILE = join(ROOT, "docker/Dockerfile");

/** Kept: it takes longer to make than everything else. */
const DEBIAN = join(ROOT, "node_modules/.cache/warmpath-debian");

/** Certificates that this machine trusts, which a package registry may need. */
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

/** The parts of an image's configuration that are looked at. */
export interface ImageConfig {
  User: string;
  Env: string[];
  Entrypoint: string[];
  Healthcheck: { Test: string[] };
}

export class Image {
  readonly #store: string;
  readonly config: ImageConfig;
  /** The image's files, mounted. */
  readonly root: string;

  private constructor(store: string, config: ImageConfig, root: string) {
    this.#store = store;
    this.config = config;
    this.root = root;
  }

  /** Builds the image from the work tree. */
  static async build(): Promise<Image> {
    await makeDebian();
    const store = await mkdtemp(join(tmpdir(), "warmpath-image-"));
    try {
      await makeBaseImages(store);
      const how = ["--isolation=chroot", "--pull=never", "--network=host", "--format=docker"];
      await buildah(store, "bud", ...how, "--file", DOCKERFILE, "--tag", "warmpath", ROOT);
      const container = await buildah(store, "from", "--pull=never", "localhost/warmpath");
      const { Docker } = JSON.parse(await buildah(store, "inspect", "--type=image", "localhost/warmpath"));
      return new Image(store, Docker.config, await buildah(store, "mount", container));
    } catch (error) {
      await removeStore(store);
      throw error;
    }
  }

  /** Bytes of all files. */
  async size(): Promise<number> {
    return Number((await succeed("du", "--summarize", "--bytes", this.root)).split("\t")[0]);
  }

  async remove(): Promise<void> {
    await removeStore(this.#store);
  }
}

async function makeBaseImages(store: string): Promise<void> {
  const dockerfile = await Bun.file(DOCKERFILE).text();
  for (const [, name] of dockerfile.matchAll(/^FROM (\S+[:/]\S+)/gm)) {
    const container = await buildah(store, "from", "scratch");
    await buildah(store, "copy", "--quiet", container, DEBIAN, "/");
    if (name.startsWith("oven/bun:")) await buildah(store, "copy", "--quiet", container, process.execPath, "/usr/local/bin/bun");
    await buildah(store, "config", "--env", `NODE_EXTRA_CA_CERTS=${CERTIFICATES}`, container);
    await buildah(store, "commit", "--quiet", "--rm", container, `localhost/${name}`);
  }
}

async function removeStore(store: string): Promise<void> {
  await buildah(store, "rm", "--all");
  await buildah(store, "rmi", "--all", "--force");
  await rm(store, { recursive: true, force: true });
}

async function buildah(store: string, command: string, ...rest: string[]): Promise<string> {
  const flags = ["--root", join(store, "root"), "--runroot", join(store, "run")];
  return (await succeed("buildah", ...flags, command, ...rest)).trim();
}

async function makeDebian(): Promise<void> {
  if (await Bun.file(join(DEBIAN, "etc/debian_version")).exists()) return;
  const fresh = await mkdtemp(join(tmpdir(), "warmpath-debian-"));
  await succeed("debootstrap", "--variant=minbase", "--include=ca-certificates", "bookworm", fresh);
  await cp(CERTIFICATES, join(fresh, CERTIFICATES));
  await mkdir(join(DEBIAN, ".."), { recursive: true });
  await rm(DEBIAN, { recursive: true, force: true });
  await succeed("mv", fresh, DEBIAN);
}
