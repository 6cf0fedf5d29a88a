import { expect, test } from "bun:test";
import { helpText, settingsTable } from "#config";
import { SETTINGS_GROUPS, Settings } from "../../src/config/settings.ts";

const GROUPS = {
  Service: ["host", "http_server_port", "tls_cert", "tls_key", "internal_api_token", "log_format", "log_level"],
  Routing: [
    "load_balance_policy",
    "car_prefill_lambda",
    "car_host_hit_weight",
    "car_disk_hit_weight",
    "target_ttft",
    "target_tpot",
    "track_inflight",
    "predict_residency_ms",
  ],
  Fleet: [
    "etcd_addr",
    "etcd_namespace",
    "kubernetes_label_selector",
    "kubernetes_namespace",
    "instance_delete_probe_timeout_ms",
    "instance_delete_probe_attempts",
    "lease_lost_heartbeat_timeout_ms",
    "suspect_timeout_ms",
    "load_report_max_age_ms",
    "load_scrape_interval_ms",
  ],
  "KV events": ["kv_events_config_file", "curve_secret_key_file"],
};

const SETTINGS = Object.values(GROUPS).flat();

const FILE_FIELDS = [
  "discovery.enabled",
  "discovery.block_size",
  "discovery.topic",
  "discovery.event_port_offset",
  "discovery.replay_port_offset",
  "discovery.refresh_interval_ms",
  "discovery.curve_server_key",
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
  "streams[].curve_server_key",
];

test("helpText lists every setting as flag and variable, and every field of the file", () => {
  const titles = helpText()
    .split("\n")
    .filter((line) => /^ {2}\S/.test(line));
  const settings = SETTINGS.map((name) => `  --${name.replaceAll("_", "-")}, WARMPATH_${name.toUpperCase()}`);
  expect(titles).toEqual(["  --help, -h", ...settings, ...FILE_FIELDS.map((name) => `  ${name}`)]);
});

test("helpText and settingsTable show each setting under the title of its group", () => {
  for (const [text, title, setting] of [
    [helpText(), /^(\w[\w ]*):$/, /^ {2}--([\w-]+), WARMPATH/],
    [settingsTable(), /^### (.*)$/, /^\| `(\w+)`/],
  ] as const) {
    const groups: Record<string, string[]> = {};
    let current: string[] = [];
    // The fields of the file are no settings.
    for (const line of (text.split("Fields of the JSON file")[0] as string).split("\n")) {
      const found = title.exec(line)?.[1];
      if (found !== undefined) groups[found] = current = [];
      const name = setting.exec(line)?.[1];
      if (name !== undefined) current.push(name.replaceAll("-", "_"));
    }
    expect(groups).toEqual(GROUPS);
  }
});

test("Settings has every setting of every group once", () => {
  const grouped = SETTINGS_GROUPS.flatMap((group) => Object.keys(group.properties));
  expect(new Set(grouped).size).toBe(grouped.length);
  expect(Object.keys(Settings.properties)).toEqual(grouped);
});

test("helpText gives meaning, permitted values and default of each", () => {
  expect(helpText()).toContain(`
  --http-server-port, WARMPATH_HTTP_SERVER_PORT
      Port to listen on; 0 takes any free port
      an integer from 0 to 65535; default 8888
`);
  expect(helpText()).toContain(`
  --load-balance-policy, WARMPATH_LOAD_BALANCE_POLICY
      How an instance is chosen: by cache and load, in turn, or by latency targets
      "CAR" or "RR" or "SLO_AWARE"; default "CAR"
`);
  expect(helpText()).toContain(`
      CAR: what a token that only host memory holds is worth, beside one on the device
      a number from 0 to 1; default 0.5
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
