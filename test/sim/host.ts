/** Where a publisher's processes run, one after the other: what they do, and what happens to them. */

import type { Holdings } from "./followed-cache.ts";
import { type NetworkParts, SimulatedNetwork } from "./network.ts";
import { Publisher, type PublisherOptions } from "./publisher.ts";

type HostOptions = Omit<PublisherOptions, "holdings" | "salt" | "firstBatchSeq">;

export class SimulatedHost {
  readonly network: SimulatedNetwork;
  readonly #options: HostOptions;
  readonly #parts: NetworkParts;
  /** 1; some engines count from 0, those among them whose stores are counted. */
  readonly #firstBatchSeq: number;
  #publisher: Publisher;
  #processes = 0;
  #isDown = false;

  constructor(options: HostOptions, parts: NetworkParts) {
    this.#options = options;
    this.#parts = parts;
    this.#firstBatchSeq = options.isCounted || parts.random.integerBelow(4) === 0 ? 0 : 1;
    this.#publisher = this.#newProcess(this.#nothing());
    this.network = new SimulatedNetwork(this.#publisher, parts);
  }

  /** The process that runs now, or that ran last. */
  get publisher(): Publisher {
    return this.#publisher;
  }

  /** One turn of whatever happens here. */
  act(): void {
    const { faults, random } = this.#parts;
    if (this.#isDown) {
      if (random.integerBelow(4) === 0) this.#start(this.#nothing());
      return;
    }
    if (faults.happens("silent for requests")) this.network.isSilent = true;
    else if (random.integerBelow(5) === 0) this.network.isSilent = false;

    // What is published last is still under way when the connection breaks.
    this.#publish();
    if (faults.happens("outage")) this.#stop();
    else if (faults.happens("restart")) this.#start(this.#nothing());
    else if (faults.happens("restart with another cache")) this.#start(this.#otherCache());
    else if (faults.happens("disconnect")) this.network.disconnect();
  }

  /** Everything that was broken is well again, and the publisher holds what a stream may. */
  comeToRest(): void {
    this.network.isSilent = false;
    if (this.#isDown) this.#start(this.#nothing());
    if (this.#publisher.blocks > this.#options.blocksMax) this.network.publish(this.#publisher.clear());
  }

  /** One more batch, by which a lost tail shows; the last one clears everything. */
  sayMore(isClear: boolean): void {
    this.network.publish(isClear ? this.#publisher.clear() : this.#publisher.change());
  }

  #publish(): void {
    const { faults, random } = this.#parts;
    if (this.#publisher.blocks > this.#options.blocksMax && random.integerBelow(3) === 0) {
      this.network.publish(this.#publisher.clear());
    } else if (faults.happens("more blocks than the limit")) this.network.publish(this.#publisher.fill());
    else if (this.#options.isCounted && faults.happens("batch number vanished")) this.#publisher.changeUnheard();
    else if (this.#options.isCounted && faults.happens("batch unreadable for good")) {
      this.network.publish(this.#publisher.changeUnreadably());
    } else if (faults.happens("full state")) this.network.publish(this.#publisher.fullState());
    else {
      const most = faults.happens("burst") ? 80 : 2;
      for (let batches = random.integerBelow(most); batches > 0; batches--) this.network.publish(this.#publisher.change());
    }
  }

  #stop(): void {
    this.#isDown = true;
    this.network.replace(null);
  }

  #start(holdings: Holdings): void {
    this.#isDown = false;
    this.#publisher = this.#newProcess(holdings);
    this.network.replace(this.#publisher);
  }

  #newProcess(holdings: Holdings): Publisher {
    this.#processes += 1;
    const { random } = this.#parts;
    const process = { holdings, salt: this.#processes * 3, firstBatchSeq: this.#firstBatchSeq };
    return new Publisher({ ...this.#options, ...process }, random);
  }

  #nothing(): Holdings {
    return new Uint8Array(this.#options.tree.size);
  }

  /** A cache that the process found, on disk say. One that counts from 0 cannot announce it: watermark 0 would be its first batch. */
  #otherCache(): Holdings {
    const other = this.#newProcess(this.#nothing());
    if (this.#firstBatchSeq === 1) for (let changes = 0; changes < 5; changes++) other.change();
    return other.holdings;
  }
}
