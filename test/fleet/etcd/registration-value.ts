/** Values as engines write them, with as little as is needed to tell them apart. */

import { ROLES, type Role } from "#domain";

export function registrationValue(role: Role, incarnation: string, fields: object = {}): Buffer {
  const value = { name: "", rpc_address: "", type: ROLES.indexOf(role), incarnation_id: incarnation, ...fields };
  return Buffer.from(JSON.stringify(value));
}

export function loadValue(waitingRequests: number, cacheUsage: number): Buffer {
  return Buffer.from(JSON.stringify({ waiting_requests_num: waitingRequests, gpu_cache_usage_perc: cacheUsage }));
}
