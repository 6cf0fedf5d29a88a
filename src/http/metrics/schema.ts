import { t } from "elysia";
import { problemDocument } from "../problem.ts";

export const metricsResponses = { 200: t.NoValidate(t.String()), 500: problemDocument };
