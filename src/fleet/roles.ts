/** What an instance works as. */

import type { CurrentRole, Role } from "#domain";

/**
 * `previous` is what the same process was registered and worked as before. A new MIX instance becomes DECODE where the fleet has
 * no other decode instance, in whatever state: one that is SUSPECT may come back. Once it works as something it goes on.
 */
export function currentRoleOf(
  role: Role,
  previous: { role: Role; currentRole: CurrentRole } | null,
  hasDecode: () => boolean,
): CurrentRole {
  if (role !== "MIX") return role;
  if (previous?.role === "MIX") return previous.currentRole;
  return hasDecode() ? "PREFILL" : "DECODE";
}
