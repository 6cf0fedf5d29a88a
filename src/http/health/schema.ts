/** What the probes answer. */

import { t } from "elysia";
import { problemDocument } from "../problem.ts";

export const aliveResponses = { 200: t.Object({ ok: t.Literal(true) }) };

export const readyResponses = { 200: t.Object({ ready: t.Literal(true) }), 503: problemDocument };
