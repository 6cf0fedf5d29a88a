import { expect, test } from "bun:test";
import fc from "fast-check";
import { readEvents } from "../../src/dashboard/event-lines.ts";

async function* chunks(...parts: string[]): AsyncGenerator<string> {
  yield* parts;
}

test("readEvents gives the data of each event, wherever the chunks are cut", async () => {
  const messages = ['{"a":1}', "", '{"b":"two words"}', "ü"];
  const text = messages.map((message) => `data: ${message}\n\n`).join("");
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(text.length)), async (cuts) => {
      const places = [0, ...cuts.sort((one, other) => one - other), text.length];
      const parts = places.slice(1).map((end, index) => text.slice(places[index], end));
      expect(await Array.fromAsync(readEvents(chunks(...parts)))).toEqual(messages);
    }),
  );
});

test("readEvents leaves out an event that the end cuts off, and lines that are not data", async () => {
  const events = await Array.fromAsync(readEvents(chunks(": hello\nretry: 3\ndata: whole\n\ndata: cut")));
  expect(events).toEqual(["whole"]);
});
