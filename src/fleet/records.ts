/** Who is there: what the fleet keeps of each instance, by name and in the order of names. */

import type { CurrentRole } from "#domain";
import type { Instance } from "./instance.ts";
import type { InstanceLoads } from "./loads.ts";
import type { InstanceState } from "./state.ts";

export interface InstanceRecord {
  state: InstanceState;
  /** As others see it; another object whenever anything but its load changes. */
  instance: Instance;
  readonly loads: InstanceLoads;
}

export class InstanceRecords {
  readonly #byName = new Map<string, InstanceRecord>();
  /** In code unit order. */
  readonly #sorted: InstanceRecord[] = [];
  #instances: readonly Instance[] | null = null;

  get size(): number {
    return this.#byName.size;
  }

  get(name: string): InstanceRecord | undefined {
    return this.#byName.get(name);
  }

  values(): Iterable<InstanceRecord> {
    return this.#byName.values();
  }

  /** The same array until one of them changes. */
  instances(): readonly Instance[] {
    this.#instances ??= this.#sorted.map(({ instance }) => instance);
    return this.#instances;
  }

  /** Under a name that is free. */
  add(state: InstanceState, currentRole: CurrentRole, loads: InstanceLoads): InstanceRecord {
    const record = { state, instance: describe(state, currentRole, loads), loads };
    const { name } = state.registration;
    this.#byName.set(name, record);
    this.#sorted.splice(this.#positionOf(name), 0, record);
    this.#instances = null;
    return record;
  }

  delete(name: string): void {
    if (!this.#byName.delete(name)) return;
    this.#sorted.splice(this.#positionOf(name), 1);
    this.#instances = null;
  }

  /** Whether others see a difference. */
  update(record: InstanceRecord, state: InstanceState, currentRole: CurrentRole): boolean {
    record.state = state;
    const { instance, loads } = record;
    const isSame =
      instance.registration === state.registration &&
      instance.registry === state.registry &&
      instance.state === state.kind &&
      instance.stateSinceMs === state.sinceMs &&
      instance.currentRole === currentRole;
    if (isSame) return false;
    record.instance = describe(state, currentRole, loads);
    this.#instances = null;
    return true;
  }

  /** Of the first that is not before `name`. */
  #positionOf(name: string): number {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#sorted[middle].state.registration.name < name) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Load and latency are read where they arrive, so that a report makes no new object. */
function describe(
  { kind, registration, registry, sinceMs }: InstanceState,
  currentRole: CurrentRole,
  loads: InstanceLoads,
): Instance {
  return {
    registration,
    registry,
    state: kind,
    stateSinceMs: sinceMs,
    currentRole,
    loads: loads.received,
    get latency() {
      return loads.latency;
    },
  };
}
