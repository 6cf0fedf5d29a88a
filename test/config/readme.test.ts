import { expect, test } from "bun:test";
import { replaceTable } from "../../scripts/readme.ts";

const BEGIN = "<!-- settings:begin -->";
const END = "<!-- settings:end -->";

test("replaceTable puts the table between the markers and keeps the rest", () => {
  const readme = `# Title\n${BEGIN}\nold\n${END}\nrest $& $1\n`;
  expect(replaceTable(readme, "settings", "| new |\n")).toBe(`# Title\n${BEGIN}\n\n| new |\n\n${END}\nrest $& $1\n`);
});

test("replaceTable changes nothing the second time", () => {
  const once = replaceTable(`${BEGIN}${END}`, "settings", "| $& |\n");
  expect(once).toBe(`${BEGIN}\n\n| $& |\n\n${END}`);
  expect(replaceTable(once, "settings", "| $& |\n")).toBe(once);
});

test.each(["", BEGIN, END, `${END}${BEGIN}`, `${BEGIN}${BEGIN}${END}`, `${BEGIN}${END}${END}`, `${END}${BEGIN}${END}`])(
  "replaceTable refuses %j",
  (readme) => {
    expect(() => replaceTable(readme, "settings", "")).toThrow("Cannot place the settings table");
  },
);
