/**
 * Warmpath as a single executable: Bun, the bundled sources, and what these read as files. All of them lie in one folder within the
 * executable, so that whatever a source finds beside itself, by `new URL("./name", import.meta.url)`, is beside every module.
 */

import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BunPlugin } from "bun";
import { bundlePage } from "../src/http/dashboard/bundle.ts";
import { buildKernel } from "./build-kernel.ts";

const SOURCES = join(import.meta.dir, "..", "src");

/** The thread is a program of its own, started by its URL. */
const ENTRY_POINTS = [join(SOURCES, "main.ts"), join(SOURCES, "stream", "ingest-thread.ts")];

/**
 * Each target with its libzmq among the zeromq package's builds: the one that asks for the oldest C library, glibc 2.25, where the
 * newest asks for 2.38.
 */
const LIBZMQ_BUILDS = {
  "linux-x64": "linux/x64/node/glibc-127-Release",
  "linux-arm64": "linux/arm64/node/glibc-127-Release",
  "darwin-x64": "darwin/x64/node/libc-115-Release",
  "darwin-arm64": "darwin/arm64/node/libc-115-Release",
} as const;

export type Target = keyof typeof LIBZMQ_BUILDS;

export const TARGETS = Object.keys(LIBZMQ_BUILDS) as Target[];

export function isTarget(name: string): name is Target {
  return Object.hasOwn(LIBZMQ_BUILDS, name);
}

/**
 * Builds `folder`/warmpath-`target` and returns its path. For another platform than this one Bun fetches its own executable from the
 * npm registry, once. Throws Bun's AggregateError when the bundle fails.
 */
export async function buildExecutable(target: Target, folder: string): Promise<string> {
  await buildKernel();
  await mkdir(folder, { recursive: true });
  const outfile = join(folder, `warmpath-${target}`);
  await Bun.build({
    entrypoints: ENTRY_POINTS,
    naming: { entry: "[name].[ext]" },
    target: "bun",
    format: "esm",
    // Together they halve the time to the first answer: etcd's and Kubernetes' clients are not even read where none is used.
    splitting: true,
    bytecode: true,
    plugins: [embeddedProtocol, embeddedPage(await bundlePage())],

    compile: {
      target: `bun-${target}`,
      outfile,
      assets: [
        join(SOURCES, "index", "kernel", "kernel.wasm"),
        join(packageFolder("zeromq"), "build", LIBZMQ_BUILDS[target], "addon.node"),
        join(packageFolder("etcd3"), "proto"),
      ],
      // Warmpath is configured by its own settings, not by files that happen to lie where it is started.
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
  });
  return outfile;
}

/** etcd3 reads its protocol from beside its own sources, by a path that the bundler takes from the machine that builds. */
const embeddedProtocol: BunPlugin = {
  name: "embedded etcd protocol",
  setup(build) {
    build.onLoad({ filter: /[\\/]etcd3[\\/]lib[\\/]connection-pool\.js$/ }, async ({ path }) => {
      const source = await Bun.file(path).text();
      const [before, after, ...more] = source.split(/`\$\{__dirname\}\/\.\.\/proto\/rpc\.proto`/);
      if (before === undefined || after === undefined || more.length > 0) {
        throw new Error(`Cannot embed etcd's protocol: ${path} reads it otherwise, one path of rpc.proto is needed`);
      }
      return {
        contents: `${before}require("node:path").join(require("node:path").dirname(Bun.main), "proto", "rpc.proto")${after}`,
        loader: "js",
      };
    });
  },
};

/** The executable has no sources to bundle the dashboard from: in place of the module that does there is one that holds the result. */
function embeddedPage(html: string): BunPlugin {
  return {
    name: "embedded dashboard",
    setup(build) {
      build.onLoad({ filter: /[\\/]http[\\/]dashboard[\\/]bundle\.ts$/ }, () => ({
        contents: `export const bundlePage = async () => ${JSON.stringify(html)};`,
        loader: "js",
      }));
    },
  };
}

function packageFolder(name: string): string {
  return dirname(fileURLToPath(import.meta.resolve(`${name}/package.json`)));
}
