/** From the fields of a registration to the domain's words: defaults, and what must hold between the fields. */

import { canonicalEndpoint, HASH_SEED_DEFAULT, type InstanceRegistration, incarnationOf, isCurveKey } from "#domain";
import { createFieldsCheck, type FieldError, invalidFields } from "../fields.ts";
import { excerpt } from "../problem.ts";
import { CURVE_KEY_ALLOWED, ENDPOINT_ALLOWED, type RegistrationFields, registrationFields } from "./registration-schema.ts";

const checkFields = createFieldsCheck(registrationFields, []);

export interface RequestedRegistration {
  registration: InstanceRegistration;
  /** Null when no lease is asked for. */
  leaseMs: number | null;
}

/** Throws a 422 problem that names every wrong field. */
export function readRegistration(fields: Record<string, unknown>): RequestedRegistration {
  const checked = checkFields(fields);
  const errors = [...addressErrors(checked), ...endpointErrors(checked), ...snapshotErrors(checked), ...keyErrors(checked)];
  if (errors.length > 0) throw invalidFields(errors);
  const { lease_seconds: leaseSeconds } = checked;
  return { registration: registrationOf(checked), leaseMs: leaseSeconds === undefined ? null : leaseSeconds * 1000 };
}

function registrationOf(fields: RegistrationFields): InstanceRegistration {
  const { name, engine, dp_size: dpSize = 1 } = fields;
  return {
    name,
    address: fields.address ?? name,
    role: fields.role ?? "DEFAULT",
    backend: engine,
    incarnation: incarnationOf(fields.incarnation_id ?? "", fields.register_ts_ms ?? 0),
    dpSize,
    blockSize: fields.block_size ?? null,
    hashSeed: fields.hash_seed ?? HASH_SEED_DEFAULT,
    topic: fields.topic ?? null,
    curveServerKey: fields.curve_server_key ?? null,
    eventEndpoints: canonicalEndpoints(fields.event_endpoints),
    // Whoever has replay says so, but an xLLM engine, which always answers with its snapshot.
    replayEndpoints: canonicalEndpoints(fields.replay_endpoints) ?? (engine === "xllm" ? null : Array(dpSize).fill(null)),
    ttftSamples: fields.ttft_profiling_data ?? [],
    tpotSamples: fields.tpot_profiling_data ?? [],
  };
}

function canonicalEndpoints(endpoints: readonly string[] | undefined): string[] | null {
  return endpoints?.map(canonicalEndpoint).filter((endpoint) => endpoint !== null) ?? null;
}

/** An address has the rules of an endpoint, without its scheme. */
function addressErrors({ name, address }: RegistrationFields): FieldError[] {
  if (canonicalEndpoint(`tcp://${address ?? name}`) !== null) return [];
  const allowed = "host:port with a port from 1 to 65535";
  if (address !== undefined) return [{ pointer: "/address", detail: `found ${excerpt(address)}, ${allowed} is allowed` }];
  return [{ pointer: "/name", detail: `found ${excerpt(name)}, without address only ${allowed} is allowed` }];
}

/** Each rank has its own publisher, and nothing else listens where it does. */
function endpointErrors(fields: RegistrationFields): FieldError[] {
  const errors: FieldError[] = [];
  const pointers = new Map<string, string>();
  const dpSize = fields.dp_size ?? 1;
  for (const name of ["event_endpoints", "replay_endpoints"] as const) {
    const endpoints = fields[name] ?? [];
    if (fields[name] !== undefined && endpoints.length !== dpSize) {
      errors.push({
        pointer: `/${name}`,
        detail: `found ${endpoints.length} endpoints, as many as dp_size ${dpSize} are allowed`,
      });
    }
    for (const [rank, endpoint] of endpoints.entries()) {
      const pointer = `/${name}/${rank}`;
      const canonical = canonicalEndpoint(endpoint);
      const other = canonical === null ? undefined : pointers.get(canonical);
      if (canonical === null) errors.push({ pointer, detail: `found ${excerpt(endpoint)}, ${ENDPOINT_ALLOWED}` });
      else if (other === undefined) pointers.set(canonical, pointer);
      else errors.push({ pointer, detail: `found ${excerpt(endpoint)} as in ${other}, an endpoint of its own is allowed` });
    }
  }
  return errors;
}

/** The snapshot is the one way into an xLLM stream, and offsets say nothing where the publisher does not follow them. */
function snapshotErrors({ engine, event_endpoints, replay_endpoints }: RegistrationFields): FieldError[] {
  if (engine !== "xllm" || event_endpoints === undefined || replay_endpoints !== undefined) return [];
  const needed = "an xllm instance with event_endpoints must say where it answers with its snapshot";
  return [{ pointer: "/replay_endpoints", detail: `found no such field, ${needed}` }];
}

function keyErrors({ curve_server_key: key }: RegistrationFields): FieldError[] {
  if (key === undefined || isCurveKey(key)) return [];
  return [{ pointer: "/curve_server_key", detail: `found ${excerpt(key)}, ${CURVE_KEY_ALLOWED}` }];
}
