/** RR: each instance in turn, by side, in name order. It needs neither loads nor hits; only SUSPECT is passed over. */

import { type Decision, refuse } from "../decision.ts";
import { judge } from "../eligibility.ts";
import type { Policy, PolicyBooks, PolicyCounts, RouteRequest } from "./policy.ts";
import { Rotation } from "./rotation.ts";

export class RoundRobin implements Policy {
  readonly name = "RR";
  readonly needsLoads = false;
  readonly needsMatches = false;
  readonly counts: Readonly<PolicyCounts> = { forgottenRequests: 0, unknownSteps: 0 };
  readonly books: Readonly<PolicyBooks> = { prefillRequests: 0, decodeRequests: 0, predictedPrefixes: 0 };
  readonly #prefillTurn = new Rotation();
  readonly #decodeTurn = new Rotation();

  decide(request: Pick<RouteRequest, "instances">): Decision {
    const decision = this.preview(request);
    if (decision.kind === "placed") {
      this.#prefillTurn.take(decision.prefill);
      this.#decodeTurn.take(decision.decode);
    }
    return decision;
  }

  preview({ instances }: Pick<RouteRequest, "instances">): Decision {
    const { candidates, prefill, decode } = judge(instances, null);
    const chosen = this.#prefillTurn.next(prefill);
    if (chosen === null) return refuse(this.name, candidates);
    return {
      kind: "placed",
      policy: this.name,
      prefill: chosen,
      decode: this.#decodeTurn.next(decode),
      candidates,
      flip: null,
    };
  }

  knows(): true {
    return true;
  }

  step(): null {
    return null;
  }

  tick(): readonly [] {
    return [];
  }

  forgetInstance(): void {
    // Turns go by name order, whether or not the last name is still there.
  }

  reset(): void {
    this.#prefillTurn.reset();
    this.#decodeTurn.reset();
  }
}
