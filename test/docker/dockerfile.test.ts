import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import packageJson from "../../package.json";
import { findHadolint } from "./hadolint.ts";
import { DOCKER, readText } from "./read-yaml.ts";

const hadolint = await findHadolint();
const dockerfile = await readText("Dockerfile");

describe("The Dockerfile", () => {
  test("builds with the Bun that the package asks for", () => {
    const [, version] = /^FROM oven\/bun:(\S+)/m.exec(dockerfile) ?? [];
    expect(packageJson.engines.bun).toBe(`>=${version}`);
  });

  test("labels the image with what the package says of itself", () => {
    const { name, description, license } = packageJson;
    const labels = { title: name, description, licenses: license };
    for (const [label, text] of Object.entries(labels)) expect(dockerfile).toContain(`image.${label}="${text}"`);
  });
});

test.skipIf(hadolint === null).each(["Dockerfile", "etcd.Dockerfile"])("hadolint finds nothing in docker/%s", async (name) => {
  const check = Bun.spawn([hadolint ?? "", "--no-color", join(DOCKER, name)], { stderr: "inherit" });
  expect(await check.stdout.text()).toBe("");
  expect(await check.exited).toBe(0);
});
