/** The files of docker/, as tests read them. */

import { join } from "node:path";

export const DOCKER = join(import.meta.dir, "../../docker");

/** The documents of a YAML file in docker/; the caller says what they are. */
export async function readYaml<Document>(path: string): Promise<Document[]> {
  const content = Bun.YAML.parse(await Bun.file(join(DOCKER, path)).text());
  return (Array.isArray(content) ? content : [content]) as Document[];
}

export function readText(path: string): Promise<string> {
  return Bun.file(join(DOCKER, path)).text();
}
