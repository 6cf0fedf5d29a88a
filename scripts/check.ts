/** Everything that must hold before a change lands: types, lint and format, dead code, the generated README parts, tests. */

const STATIC_CHECKS: Record<string, string[]> = {
  types: ["bunx", "tsc"],
  "types of the dashboard": ["bunx", "tsc", "-p", "src/dashboard"],
  "lint and format": ["bunx", "biome", "check", "--error-on-warnings", "."],
  "dead code": ["bunx", "knip"],
  "README tables": [process.execPath, "scripts/readme.ts", "--check"],
};

const TESTS: Record<string, string[]> = { tests: [process.execPath, "scripts/test.ts"] };

const isStaticOnly = process.argv.includes("--static");

for (const [name, command] of Object.entries({ ...STATIC_CHECKS, ...(isStaticOnly ? {} : TESTS) })) {
  console.log(`── ${name}: ${command.join(" ")}`);
  const { exitCode } = Bun.spawnSync(command, { stdio: ["inherit", "inherit", "inherit"] });
  if (exitCode !== 0) {
    console.error(`Check failed: ${name}`);
    process.exit(1);
  }
}
