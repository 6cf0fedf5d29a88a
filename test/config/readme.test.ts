import { expect, test } from "bun:test";
import { replaceSettings } from "../../scripts/readme.ts";

const BEGIN = "<!-- settings:begin -->";
const END = "<!-- settings:end -->";

test("replaceSettings puts the table between the markers and keeps the rest", () => {
  const readme = `# Title\n${BEGIN}\nold\n${END}\nrest $& $1\n`;
  expect(replaceSettings(readme, "| new |\n")).toBe(`# Title\n${BEGIN}\n\n| new |\n\n${END}\nrest $& $1\n`);
});

test("replaceSettings changes nothing the second time", () => {
  const once = replaceSettings(`${BEGIN}${END}`, "| $& |\n");
  expect(once).toBe(`${BEGIN}\n\n| $& |\n\n${END}`);
  expect(replaceSettings(once, "| $& |\n")).toBe(once);
});

test.each(["", BEGIN, END, `${END}${BEGIN}`, `${BEGIN}${BEGIN}${END}`, `${BEGIN}${END}${END}`, `${END}${BEGIN}${END}`])(
  "replaceSettings refuses %j",
  (readme) => {
    expect(() => replaceSettings(readme, "")).toThrow("Cannot place the settings table");
  },
);
