import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const VARIABLES = ["KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "HOME"] as const;

const SERVICE_ACCOUNT = "var/run/secrets/kubernetes.io/serviceaccount";

/** A directory of its own, and the environment variables that say where the API server is; `restore` undoes both. */
export class Environment {
  readonly directory = mkdtempSync(join(tmpdir(), "warmpath-kubernetes-"));
  readonly #before = VARIABLES.map((name) => [name, process.env[name]] as const);

  constructor() {
    for (const name of VARIABLES) delete process.env[name];
    process.env.HOME = this.directory;
  }

  write(path: string, content: string): string {
    const file = join(this.directory, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  }

  /** A kubeconfig of one context, named by KUBECONFIG; `cluster` and `user` in the file's own words. */
  writeKubeconfig(cluster: Record<string, unknown>, user: Record<string, unknown> = {}, namespace = "llm"): void {
    const config = {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "test", cluster }],
      users: [{ name: "warmpath", user }],
      contexts: [{ name: "warmpath@test", context: { cluster: "test", user: "warmpath", namespace } }],
      "current-context": "warmpath@test",
    };
    process.env.KUBECONFIG = this.write("kubeconfig", JSON.stringify(config));
  }

  /** The files of a pod's service account, beneath `directory`. */
  writeServiceAccount(files: { token: string; "ca.crt": string; namespace: string }): void {
    for (const [name, content] of Object.entries(files)) this.write(join(SERVICE_ACCOUNT, name), content);
  }

  restore(): void {
    for (const [name, value] of this.#before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    rmSync(this.directory, { recursive: true });
  }
}
