/**
 * Eden's routes with two things mended: what is put into a path is percent-encoded, since names and request ids may hold "/", "?" and
 * "%"; and a request that got no answer rejects, where Eden makes up a status 503 that nobody sent.
 */

/** A route, or what leads to one: Eden's are functions whose properties are further ones. */
type Route = (...values: unknown[]) => unknown;

/** What Eden resolves with; without `response` nobody answered, and the cause is the error's value. */
interface Answer {
  response: Response | undefined;
  error: { value: unknown } | null;
}

/** The properties of a route that send a request; any other call puts values into the path. */
const METHODS: ReadonlySet<string> = new Set(["get", "post", "put", "delete", "patch", "options", "head"]);

/** The same routes as `api`, mended all the way down. */
export function mendRoutes<Api extends object>(api: Api): Api {
  return mend(api, null) as Api;
}

/** `name` is the property by which it was reached; null for what has been called. */
function mend(route: object, name: string | null): object {
  return new Proxy(route, {
    get(target, property) {
      const found: unknown = Reflect.get(target, property);
      return typeof found === "function" ? mend(found, String(property)) : found;
    },
    apply(target, _receiver, values: unknown[]) {
      if (name !== null && METHODS.has(name)) return answered((target as Route)(...values) as Promise<Answer>);
      return mend((target as Route)(...values.map(encodeValues)) as object, null);
    },
  });
}

function encodeValues(values: unknown): object {
  const encoded = Object.entries(values as object).map(([name, value]) => [name, encodeURIComponent(String(value))]);
  return Object.fromEntries(encoded);
}

async function answered(asked: Promise<Answer>): Promise<Answer> {
  const answer = await asked;
  if (answer.response === undefined) throw answer.error?.value;
  return answer;
}
