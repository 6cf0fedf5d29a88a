import { expect, test } from "bun:test";
import { helpText, settingsTable } from "#config";

const SETTINGS = ["host", "http_server_port", "internal_api_token", "kv_events_config_file"];

const FILE_FIELDS = [
  "discovery.enabled",
  "discovery.block_size",
  "discovery.topic",
  "discovery.event_port_offset",
  "discovery.replay_port_offset",
  "discovery.refresh_interval_ms",
  "max_streams",
  "max_blocks_per_stream",
  "max_message_bytes",
  "max_buffered_bytes",
  "replay_timeout_ms",
  "resync_interval_ms",
  "streams[].instance_name",
  "streams[].dp_rank",
  "streams[].engine",
  "streams[].block_size",
  "streams[].endpoint",
  "streams[].replay_endpoint",
  "streams[].topic",
  "streams[].hash_seed",
];

test("helpText lists every setting as flag and variable, and every field of the file", () => {
  const titles = helpText()
    .split("\n")
    .filter((line) => /^ {2}\S/.test(line));
  const settings = SETTINGS.map((name) => `  --${name.replaceAll("_", "-")}, WARMPATH_${name.toUpperCase()}`);
  expect(titles).toEqual([...settings, "  --help, -h", ...FILE_FIELDS.map((name) => `  ${name}`)]);
});

test("helpText gives meaning, permitted values and default of each", () => {
  expect(helpText()).toContain(`
  --http-server-port, WARMPATH_HTTP_SERVER_PORT
      Port to listen on; 0 takes any free port
      an integer from 0 to 65535; default 8888
`);
  expect(helpText()).toContain(`
  streams[].instance_name
      Name of the instance, preferably host:port of its HTTP address
      a nonempty string; required
`);
});

test("settingsTable has a row of four cells for every setting and field", () => {
  const rows = settingsTable()
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  expect(rows.map((row) => row.split("`")[1] as string)).toEqual([...SETTINGS, ...FILE_FIELDS]);
  expect(rows.filter((row) => !/^(\| [^|]+ ){4}\|$/.test(row))).toEqual([]);
});

test("settingsTable tells defaults from required fields", () => {
  expect(settingsTable()).toContain("| `http_server_port` | `8888` | an integer from 0 to 65535 | Port to listen on;");
  expect(settingsTable()).toContain("| `streams[].instance_name` | required | a nonempty string |");
});
