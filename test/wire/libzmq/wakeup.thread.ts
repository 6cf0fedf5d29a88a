/** Plays the other thread of a wake-up: calls once for every message it is sent, and closes on "close". */

import { WakeupCaller } from "#wire";

declare const self: Worker;

let caller: WakeupCaller | null = null;

self.onmessage = ({ data }: MessageEvent<number | "wake" | "close">) => {
  if (typeof data === "number") caller = new WakeupCaller(data);
  else if (data === "wake") caller?.wake();
  else caller?.close();
  self.postMessage(data);
};
