import { expect, test } from "bun:test";
import { parseKvEvents } from "../../src/config/parse-kv-events.ts";

const CURVE_KEY = "a public CURVE key, 40 characters of Z85, or null";

const ENDPOINT = "tcp://host:port with a port from 1 to 65535 and no wildcard host (*, 0.0.0.0, [::])";
const XLLM_REPLAY = 'tcp://host:port, where engine "xllm" answers with its snapshot';

function problems(file: unknown): string[] {
  const { problems } = parseKvEvents(typeof file === "string" ? file : JSON.stringify(file));
  return (problems ?? []).map(({ setting, found, needed }) => `${setting}: found ${found}, needed ${needed}`);
}

/** A right stream whose endpoints no other position has, with `changes`; a field changed to undefined is left out. */
function stream(position: number, changes: Record<string, unknown> = {}): Record<string, unknown> {
  const endpoint = `tcp://10.0.0.5:${18000 + position}`;
  const replay_endpoint = `tcp://10.0.0.5:${38000 + position}`;
  return { instance_name: "10.0.0.5:8000", dp_rank: position, endpoint, replay_endpoint, ...changes };
}

test("parseKvEvents reads a file with discovery", () => {
  const { kvEvents } = parseKvEvents(`{
      "discovery": {
        "enabled": true,
        "block_size": 128,
        "topic": "xllm-kv",
        "event_port_offset": 10000,
        "replay_port_offset": 30000,
        "refresh_interval_ms": 1000
      }
    }`);
  expect(kvEvents?.streams).toEqual([]);
  expect(kvEvents?.discovery).toEqual({
    enabled: true,
    blockSize: 128,
    topic: "xllm-kv",
    curveServerKey: null,
    eventPortOffset: 10000,
    replayPortOffset: 30000,
    refreshIntervalMs: 1000,
  });
});

test("parseKvEvents reads a file with streams and limits", () => {
  const { kvEvents } = parseKvEvents(`{
      "max_streams": 2,
      "max_blocks_per_stream": 16777216,
      "max_message_bytes": 1024,
      "max_buffered_bytes": 4294967295,
      "replay_timeout_ms": 1,
      "resync_interval_ms": 3600000,
      "streams": [
        { "instance_name": "a", "endpoint": "tcp://[::1]:18000", "replay_endpoint": "tcp://[::1]:38000" },
        { "instance_name": "a", "dp_rank": 4095, "engine": "xllm", "block_size": 16, "hash_seed": 4294967295,
          "endpoint": "tcp://A:1", "replay_endpoint": "tcp://A:65535", "topic": "kv" }
      ]
    }`);
  expect(kvEvents).toEqual({
    maxStreams: 2,
    maxBlocksPerStream: 16777216,
    maxMessageBytes: 1024,
    maxBufferedBytes: 4294967295,
    replayTimeoutMs: 1,
    resyncIntervalMs: 3600000,
    discovery: {
      enabled: false,
      blockSize: 128,
      topic: "",
      curveServerKey: null,
      eventPortOffset: 10000,
      replayPortOffset: 30000,
      refreshIntervalMs: 1000,
    },
    streams: [
      {
        instanceName: "a",
        dpRank: 0,
        engine: "xllm",
        blockSize: 128,
        hashSeed: 1024,
        endpoint: "tcp://[::1]:18000",
        replayEndpoint: "tcp://[::1]:38000",
        topic: "",
        curveServerKey: null,
        incarnation: "",
      },
      {
        instanceName: "a",
        dpRank: 4095,
        engine: "xllm",
        blockSize: 16,
        hashSeed: 4294967295,
        endpoint: "tcp://A:1",
        replayEndpoint: "tcp://A:65535",
        topic: "kv",
        curveServerKey: null,
        incarnation: "",
      },
    ],
  });
});

test("parseKvEvents fills an empty discovery with defaults and permits empty streams beside it", () => {
  const { kvEvents } = parseKvEvents('{"discovery": {}, "streams": []}');
  expect(kvEvents?.discovery).toEqual({
    enabled: false,
    blockSize: 128,
    topic: "",
    curveServerKey: null,
    eventPortOffset: 10000,
    replayPortOffset: 30000,
    refreshIntervalMs: 1000,
  });
});

test("parseKvEvents takes discovery that is switched off", () => {
  const { kvEvents } = parseKvEvents('{"discovery": {"enabled": false, "block_size": 16}, "max_streams": 7}');
  expect(kvEvents).toMatchObject({ discovery: { enabled: false, blockSize: 16 }, streams: [], maxStreams: 7 });
});

test.each([
  ["", "line 1 column 1: found the end of the file, needed JSON"],
  ['{\n  "discovery": tru\n}', 'line 2 column 16: found "tru", needed JSON'],
  ['{"max_streams": 1,}', 'line 1 column 19: found "}", needed JSON'],
  ['{"streams": [\n', "line 2 column 1: found the end of the file, needed JSON"],
  [`{ ${"x".repeat(50)}`, `line 1 column 3: found "${"x".repeat(20)}", needed JSON`],
])("parseKvEvents refuses %j, which is not JSON", (text, problem) => {
  expect(problems(text)).toEqual([problem]);
});

test.each([
  [null, ": found null, needed an object"],
  [[], ": found an array, needed an object"],
  [{ max_streams: 0 }, "max_streams: found 0, needed an integer from 1 to 128"],
  [{ max_streams: 129 }, "max_streams: found 129, needed an integer from 1 to 128"],
  [{ max_streams: 1.5 }, "max_streams: found 1.5, needed an integer from 1 to 128"],
  [{ max_streams: "128" }, 'max_streams: found "128", needed an integer from 1 to 128'],
  [{ max_streams: null }, "max_streams: found null, needed an integer from 1 to 128"],
  ['{"max_streams": 1e400}', "max_streams: found Infinity, needed an integer from 1 to 128"],
  [{ max_blocks_per_stream: 16777217 }, "max_blocks_per_stream: found 16777217, needed an integer from 1 to 16777216"],
  [{ max_message_bytes: 1023 }, "max_message_bytes: found 1023, needed an integer from 1024 to 268435456"],
  [{ max_buffered_bytes: 2 ** 32 }, "max_buffered_bytes: found 4294967296, needed an integer from 1024 to 4294967295"],
  [{ replay_timeout_ms: 600001 }, "replay_timeout_ms: found 600001, needed an integer from 1 to 600000"],
  [{ resync_interval_ms: 999 }, "resync_interval_ms: found 999, needed an integer from 1000 to 3600000"],
  [
    { resyncIntervalMs: 1000 },
    "resyncIntervalMs: found an unknown field, needed one of discovery, max_streams, max_blocks_per_stream, " +
      "max_message_bytes, max_buffered_bytes, replay_timeout_ms, resync_interval_ms, streams",
  ],
  [{ discovery: true }, "discovery: found true, needed an object"],
  [{ discovery: [] }, "discovery: found an array, needed an object"],
  [{ discovery: { enabled: "true" } }, 'discovery.enabled: found "true", needed true or false'],
  [{ discovery: { block_size: 4097 } }, "discovery.block_size: found 4097, needed an integer from 1 to 4096"],
  [{ discovery: { topic: 1 } }, "discovery.topic: found 1, needed a string"],
  [{ discovery: { event_port_offset: 65535 } }, "discovery.event_port_offset: found 65535, needed an integer from 1 to 65534"],
  [{ discovery: { refresh_interval_ms: 49 } }, "discovery.refresh_interval_ms: found 49, needed an integer from 50 to 60000"],
  [
    { discovery: { "a/b": 1 } },
    "discovery.a/b: found an unknown field, needed one of enabled, block_size, topic, event_port_offset, " +
      "replay_port_offset, refresh_interval_ms, curve_server_key",
  ],
  [
    { discovery: { event_port_offset: 30000 } },
    "discovery.replay_port_offset: found 30000 as in discovery.event_port_offset, needed another offset",
  ],
  [{ streams: {} }, "streams: found an object, needed an array"],
  [{ streams: { 0: stream(0) } }, "streams: found an object, needed an array"],
  [{ streams: [1] }, "streams[0]: found 1, needed an object"],
  [{ streams: [stream(0, { instance_name: "" })] }, 'streams[0].instance_name: found "", needed a nonempty string'],
  [{ streams: [stream(0, { instance_name: undefined })] }, "streams[0].instance_name: found nothing, needed a nonempty string"],
  [{ streams: [stream(0, { dp_rank: 4096 })] }, "streams[0].dp_rank: found 4096, needed an integer from 0 to 4095"],
  [{ streams: [stream(0, { engine: "tensorrt" })] }, 'streams[0].engine: found "tensorrt", needed "xllm" or "vllm" or "sglang"'],
  [{ streams: [stream(0, { block_size: 0 })] }, "streams[0].block_size: found 0, needed an integer from 1 to 4096"],
  [{ streams: [stream(0, { hash_seed: -1 })] }, "streams[0].hash_seed: found -1, needed an integer from 0 to 4294967295"],
  [{ streams: [stream(0, { topic: {} })] }, "streams[0].topic: found an object, needed a string"],
  [{ streams: [stream(0, { endpoint: undefined })] }, `streams[0].endpoint: found nothing, needed ${ENDPOINT}`],
  [{ streams: [stream(0, { endpoint: "tcp://*:18000" })] }, `streams[0].endpoint: found "tcp://*:18000", needed ${ENDPOINT}`],
  [{ streams: [stream(0, { replay_endpoint: undefined })] }, `streams[0].replay_endpoint: found nothing, needed ${XLLM_REPLAY}`],
  [{ streams: [stream(0, { replay_endpoint: null })] }, `streams[0].replay_endpoint: found nothing, needed ${XLLM_REPLAY}`],
  [
    { streams: [stream(0, { engine: "vllm", replay_endpoint: "" })] },
    `streams[0].replay_endpoint: found "", needed ${ENDPOINT}, or null`,
  ],
  [
    { streams: [stream(0, { engine: "vllm", replay_endpoint: undefined }), stream(1, { endpoint: "tcp://10.0.0.5:18000" })] },
    'streams[1].endpoint: found "tcp://10.0.0.5:18000" as in streams[0].endpoint, needed an endpoint of its own',
  ],
  [
    { streams: [stream(0, { replay_endpoint: "tcp://0.0.0.0:1" })] },
    `streams[0].replay_endpoint: found "tcp://0.0.0.0:1", needed ${ENDPOINT}, or null`,
  ],
  [
    { streams: [stream(0, { replay_endpoint: "10.0.0.5:1" })] },
    `streams[0].replay_endpoint: found "10.0.0.5:1", needed ${ENDPOINT}, or null`,
  ],
  [
    { streams: [stream(0, { endpiont: "" })] },
    "streams[0].endpiont: found an unknown field, needed one of instance_name, dp_rank, engine, block_size, endpoint, " +
      "replay_endpoint, topic, hash_seed, curve_server_key",
  ],
  [{ discovery: { curve_server_key: "" } }, `discovery.curve_server_key: found "", needed ${CURVE_KEY}`],
  [{ streams: [stream(0, { curve_server_key: "0" })] }, `streams[0].curve_server_key: found "0", needed ${CURVE_KEY}`],
  [{ discovery: {}, streams: [stream(0)] }, "streams: found 1 beside discovery, needed either discovery or streams"],
  [
    { discovery: { enabled: false }, streams: [stream(0)] },
    "streams: found 1 beside discovery, needed either discovery or streams",
  ],
  [{ max_streams: 1, streams: [stream(0), stream(1)] }, "streams: found 2, needed at most max_streams 1"],
  [
    { streams: [stream(0), stream(1), stream(2, { dp_rank: 1 })] },
    'streams[2]: found instance "10.0.0.5:8000" rank 1 as in streams[1], needed one stream per instance and rank',
  ],
  [
    { streams: [stream(0), stream(1, { endpoint: "tcp://10.0.0.5:38000" })] },
    'streams[1].endpoint: found "tcp://10.0.0.5:38000" as in streams[0].replay_endpoint, needed an endpoint of its own',
  ],
  [
    { streams: [stream(0, { endpoint: "tcp://Engine:05000", replay_endpoint: "tcp://engine:5000" })] },
    'streams[0].replay_endpoint: found "tcp://engine:5000" as in streams[0].endpoint, needed an endpoint of its own',
  ],
])("parseKvEvents refuses %j", (file, problem) => {
  expect(problems(file)).toEqual([problem]);
});

test("parseKvEvents reads streams of every engine, with a replay endpoint or null where the engine may lack one", () => {
  const { kvEvents } = parseKvEvents(
    JSON.stringify({
      streams: [
        stream(0),
        stream(1, { engine: "vllm" }),
        stream(2, { engine: "vllm", replay_endpoint: undefined }),
        stream(3, { engine: "sglang", replay_endpoint: null }),
      ],
    }),
  );
  expect(kvEvents?.streams.map(({ engine, replayEndpoint }) => [engine, replayEndpoint])).toEqual([
    ["xllm", "tcp://10.0.0.5:38000"],
    ["vllm", "tcp://10.0.0.5:38001"],
    ["vllm", null],
    ["sglang", null],
  ]);
});

test("parseKvEvents reads a CURVE key for all instances, and one for each stream", () => {
  const key = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7";
  const file = (content: object) => parseKvEvents(JSON.stringify(content)).kvEvents;
  expect(file({ discovery: { curve_server_key: key } })?.discovery.curveServerKey).toBe(key);
  const streams = [stream(0, { curve_server_key: key }), stream(1, { curve_server_key: null }), stream(2)];
  expect(file({ streams })?.streams.map(({ curveServerKey }) => curveServerKey)).toEqual([key, null, null]);
});

test("parseKvEvents takes one rank of two instances and two ranks of one for different streams", () => {
  expect(problems({ streams: [stream(0), stream(1), stream(2, { instance_name: "b", dp_rank: 0 })] })).toEqual([]);
});

test("parseKvEvents takes __proto__ for an unknown field and not for a prototype", () => {
  expect(problems('{"__proto__": {"max_streams": 1}}')).toEqual([
    "__proto__: found an unknown field, needed one of discovery, max_streams, max_blocks_per_stream, " +
      "max_message_bytes, max_buffered_bytes, replay_timeout_ms, resync_interval_ms, streams",
  ]);
});

test("parseKvEvents reports wrong fields and broken rules together, each once", () => {
  const streams = [stream(0, { block_size: 0 }), stream(0, { endpoint: "tcp://*:1", dp_rank: 0 }), "stream"];
  expect(problems({ discovery: { enabled: 1, event_port_offset: 30000 }, max_streams: 2, streams })).toEqual([
    "discovery.enabled: found 1, needed true or false",
    "streams[0].block_size: found 0, needed an integer from 1 to 4096",
    `streams[1].endpoint: found "tcp://*:1", needed ${ENDPOINT}`,
    'streams[2]: found "stream", needed an object',
    "streams: found 3 beside discovery, needed either discovery or streams",
    "streams: found 3, needed at most max_streams 2",
    'streams[1]: found instance "10.0.0.5:8000" rank 0 as in streams[0], needed one stream per instance and rank',
    'streams[1].replay_endpoint: found "tcp://10.0.0.5:38000" as in streams[0].replay_endpoint, needed an endpoint of its own',
  ]);
});
