/** What the page says beside simulated engines: how to make one go away. */

import { type Content, element } from "./element.ts";
import type { Instance } from "./model.ts";

/** The demo's engines register under an incarnation that tells their process. */
const DEMO_INCARNATION = /^demo-process-(\d+)$/;

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Empty where no engine is simulated, and for readers elsewhere, whose processes these are not. */
export function demoView(instances: readonly Instance[]): Content[] {
  const engines = instances.flatMap(({ name, incarnation_id: incarnation, state }) => {
    const process = DEMO_INCARNATION.exec(incarnation)?.[1];
    return process === undefined ? [] : [{ name, process, isThere: state === "ACTIVE" }];
  });
  if (engines.length === 0 || !LOOPBACK.has(location.hostname)) return [];
  return [
    element(
      "section",
      { class: "panel demo", "aria-label": "About this demo" },
      element(
        "p",
        {},
        element("b", {}, "These engines are simulated."),
        " Each is a process of its own, and may be killed from a terminal of this machine: its stream is out of sync at once, ",
        "requests go elsewhere, and it comes back by itself with an empty cache.",
      ),
      element(
        "ul",
        {},
        ...engines.map(({ name, process, isThere }) => {
          return element(
            "li",
            { "data-key": name },
            `${name} `,
            isThere ? element("code", {}, `kill ${process}`) : element("small", {}, "is gone"),
          );
        }),
      ),
    ),
  ];
}
