/** A stream's part of a match without the description that the index only passes on. */

import type { StreamDescription, StreamMatch } from "#domain";
import type { KvIndexReader } from "#index";

export type ReadStream = Omit<StreamMatch, "stream">;

const NAMELESS: StreamDescription = {
  instanceName: "",
  dpRank: 0,
  engine: "xllm",
  blockSize: 1,
  hashSeed: 0,
  endpoint: "",
  replayEndpoint: "",
  topic: "",
  curveServerKey: null,
  incarnation: "",
};

export function readStream(reader: KvIndexReader, id: number): ReadStream {
  const { stream: _passedOn, ...read } = reader.read(id, NAMELESS);
  return read;
}
