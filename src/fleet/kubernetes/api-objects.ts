/**
 * What is read of the API server's JSON (core/v1 and meta/v1). Objects have far more fields; those are left alone. Go writes an
 * empty list as null, or not at all.
 */

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { ApiServerError } from "./errors.ts";

const list = <T extends TSchema>(items: T) => Type.Optional(Type.Union([Type.Array(items), Type.Null()]));

const Container = Type.Object({
  ports: list(
    Type.Object({
      name: Type.Optional(Type.String()),
      containerPort: Type.Integer(),
      protocol: Type.Optional(Type.String()),
    }),
  ),
});

export const Pod = Type.Object({
  metadata: Type.Object({
    name: Type.String(),
    namespace: Type.String(),
    uid: Type.String(),
    resourceVersion: Type.String(),
    annotations: Type.Optional(Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()])),
    deletionTimestamp: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  }),
  spec: Type.Object({ containers: list(Container) }),
  status: Type.Optional(
    Type.Object({
      phase: Type.Optional(Type.String()),
      podIP: Type.Optional(Type.String()),
      conditions: list(Type.Object({ type: Type.String(), status: Type.String() })),
    }),
  ),
});

export type Pod = Static<typeof Pod>;

export const PodList = Type.Object({
  metadata: Type.Object({ resourceVersion: Type.String(), continue: Type.Optional(Type.String()) }),
  items: list(Pod),
});

/** Of a request that failed; also the object of a watch's ERROR. */
export const Status = Type.Object({
  code: Type.Optional(Type.Integer()),
  reason: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
});

export type Status = Static<typeof Status>;

/** Nothing happened up to this version. */
const Bookmark = Type.Object({ metadata: Type.Object({ resourceVersion: Type.String() }) });

const WatchLine = Type.Object({
  type: Type.Union((["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"] as const).map((type) => Type.Literal(type))),
  object: Type.Unknown(),
});

export type WatchEvent =
  | { type: "ADDED" | "MODIFIED" | "DELETED"; object: Pod }
  | { type: "BOOKMARK"; object: Static<typeof Bookmark> }
  | { type: "ERROR"; object: Status };

/** A line of a watch, parsed. Throws as `checked` does. */
export function readWatchEvent(line: unknown): WatchEvent {
  const { type, object } = checked(WatchLine, line, "an event of the watch");
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type, object: checked(Pod, object, "a pod of the watch") };
    case "BOOKMARK":
      return { type, object: checked(Bookmark, object, "a bookmark of the watch") };
    case "ERROR":
      return { type, object: checked(Status, object, "an error of the watch") };
  }
}

/** `value` as the schema describes it. Throws an ApiServerError when it is not of that form. */
export function checked<T extends TSchema>(schema: T, value: unknown, what: string): Static<T> {
  if (Value.Check(schema, value)) return value;
  const error = Value.Errors(schema, value).First();
  const place = error === undefined || error.path === "" ? "its form" : error.path;
  throw new ApiServerError("unreadable", `Cannot read ${what}: ${place} is not as core/v1 has it`);
}
