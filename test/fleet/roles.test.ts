import { describe, expect, test } from "bun:test";
import { currentRoleOf } from "../../src/fleet/roles.ts";

const some = () => true;
const none = () => false;

describe("currentRoleOf", () => {
  test.each(["DEFAULT", "PREFILL", "DECODE"] as const)("A %s instance works as that, whoever else is there", (role) => {
    expect(currentRoleOf(role, null, some)).toBe(role);
    expect(currentRoleOf(role, null, none)).toBe(role);
  });

  test("A new MIX instance works as DECODE where no other does, else as PREFILL", () => {
    expect(currentRoleOf("MIX", null, none)).toBe("DECODE");
    expect(currentRoleOf("MIX", null, some)).toBe("PREFILL");
  });

  test.each(["PREFILL", "DECODE"] as const)(
    "A MIX instance that works as %s goes on with it when it is refreshed",
    (currentRole) => {
      expect(currentRoleOf("MIX", { role: "MIX", currentRole }, some)).toBe(currentRole);
      expect(currentRoleOf("MIX", { role: "MIX", currentRole }, none)).toBe(currentRole);
    },
  );

  test("An instance that is registered in another role than before works in the new one", () => {
    expect(currentRoleOf("PREFILL", { role: "MIX", currentRole: "DECODE" }, none)).toBe("PREFILL");
    expect(currentRoleOf("MIX", { role: "PREFILL", currentRole: "PREFILL" }, none)).toBe("DECODE");
    expect(currentRoleOf("MIX", { role: "DECODE", currentRole: "DECODE" }, some)).toBe("PREFILL");
  });
});
