/** Server-sent events out of a stream of text, as far as Warmpath's feed uses them: `data:` lines and an empty line. */

/** The data of each event, in order. An event that the end of the stream cuts off is left out. */
export async function* readEvents(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of text) {
    const events = (rest + chunk).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) yield dataOf(event);
  }
}

function dataOf(event: string): string {
  const lines = event.split("\n").filter((line) => line.startsWith("data:"));
  return lines.map((line) => line.slice("data:".length).trimStart()).join("\n");
}
