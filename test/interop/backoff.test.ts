import { LEFT, RIGHT } from "./blocks.ts";
import { stored } from "./cache-event.ts";
import { describeInterop } from "./suite.ts";

describeInterop("A peer that loses batches", (scenario) => {
  scenario("Warmpath does not wait longer after each recovery that succeeded", async (stream) => {
    const { peer } = stream;
    await stream.catchesUp();
    for (let lost = 0; lost < 6; lost++) {
      await peer.lose([stored(LEFT)]);
      await peer.publish([stored(RIGHT)]);
      await stream.catchesUp();
    }
  });
});
