/**
 * From a heartbeat's JSON, as protobuf writes it, to the fleet's words: absent fields have their type's zero, unknown ones mean
 * nothing. By hand, since a thousand instances send two a second.
 */

import type { Heartbeat } from "#fleet";
import { excerpt, Problem } from "../problem.ts";

type Fields = Record<string, unknown>;

/** A decimal number, or what protobuf's JSON writes where a number is none. */
const NUMBER_TEXT = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|NaN|-?Infinity)$/;

/** Throws a 400 problem that names the field. A load that makes no sense passes: the fleet says what is wrong with it. */
export function decodeHeartbeat(fields: Fields): Heartbeat {
  const name = readText(fields, "name");
  if (name === "") throw missingName();
  const load = readObject(fields, "load_metrics");
  const latency = readObject(fields, "latency_metrics");
  return {
    name,
    incarnation: readText(fields, "incarnation_id"),
    load: load && {
      waitingRequests: readNumber(load, "load_metrics", "waiting_requests_num"),
      cacheUsage: readNumber(load, "load_metrics", "gpu_cache_usage_perc"),
    },
    latency: latency && {
      ttftMs: readMilliseconds(latency, "recent_max_ttft"),
      tbtMs: readMilliseconds(latency, "recent_max_tbt"),
    },
  };
}

function readText(fields: Fields, name: string): string {
  const found = fields[name] ?? "";
  if (typeof found !== "string") throw wrongType(`/${name}`, found, "a string");
  return found;
}

function readObject(fields: Fields, name: string): Fields | null {
  const found = fields[name] ?? null;
  if (typeof found !== "object" || Array.isArray(found)) throw wrongType(`/${name}`, found, "an object");
  return found as Fields | null;
}

function readNumber(fields: Fields, parent: string, name: string): number {
  const found = fields[name] ?? 0;
  if (typeof found === "number") return found;
  if (typeof found === "string" && NUMBER_TEXT.test(found)) return Number(found);
  throw wrongType(`/${parent}/${name}`, found, "a number or its text");
}

function readMilliseconds(fields: Fields, name: string): number {
  const found = readNumber(fields, "latency_metrics", name);
  if (!Number.isFinite(found)) throw wrongType(`/latency_metrics/${name}`, found, "a finite number");
  return found;
}

function missingName(): Problem {
  const detail = "found no name, the instance's name is needed";
  return new Problem("malformed-body", {
    detail: `Cannot read /name: ${detail}`,
    errors: [{ pointer: "/name", detail }],
    error: "missing instance name",
  });
}

function wrongType(pointer: string, found: unknown, needed: string): Problem {
  const detail = `found ${excerpt(found)}, ${needed} is needed`;
  return new Problem("malformed-body", { detail: `Cannot read ${pointer}: ${detail}`, errors: [{ pointer, detail }] });
}
