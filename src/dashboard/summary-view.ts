/** The five numbers that say whether all is well, and the sentence that says what is not. */

import { type Content, element } from "./element.ts";
import { formatCount, formatShare, formatShort } from "./format.ts";
import { hitShare, type Model } from "./model.ts";

/** Long enough not to jump, short enough to follow. */
const SPAN_MS = 60_000;

export function noticesView({ last }: Model): Content[] {
  return (last?.unready ?? []).map((reason) => element("p", { class: "notice" }, `Cannot serve: ${reason}`));
}

export function summaryView(model: Model): Content[] {
  const instances = model.fleet?.instances ?? [];
  const streams = [...instances.flatMap((instance) => instance.streams), ...(model.fleet?.static_streams ?? [])];
  const serving = instances.filter(({ excluded }) => excluded === null).length;
  const inSync = streams.filter(({ synchronized }) => synchronized).length;
  const sum = (count: (stream: (typeof streams)[number]) => number) =>
    streams.reduce((total, stream) => total + count(stream), 0);
  const lately = model.sumOver(SPAN_MS);
  const share = hitShare(lately);
  return [
    element(
      "dl",
      { class: "summary" },
      figure("Serving", formatCount(serving), `of ${formatCount(instances.length)}`, serving < instances.length),
      figure("Streams in sync", formatCount(inSync), `of ${formatCount(streams.length)}`, inSync < streams.length),
      figure(
        "Blocks on device",
        formatCount(sum((stream) => stream.device_blocks)),
        `${formatShort(sum((stream) => stream.host_blocks))} host, ${formatShort(sum((stream) => stream.disk_blocks))} disk`,
        false,
      ),
      figure("Hit share", share === null ? "–" : formatShare(share), "last minute", false),
      figure(
        "Decisions",
        formatCount(lately.decisions),
        lately.refused > 0 ? `${formatCount(lately.refused)} refused` : `last minute, ${model.last?.policy ?? ""}`,
        lately.refused > 0,
      ),
    ),
  ];
}

function figure(name: string, value: string, beside: string, isWrong: boolean): HTMLElement {
  return element(
    "div",
    { "data-key": name, class: isWrong ? "wrong" : null },
    element("dt", {}, name),
    element("dd", {}, element("b", {}, value), " ", element("small", {}, beside)),
  );
}
