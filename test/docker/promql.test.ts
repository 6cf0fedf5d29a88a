import { expect, test } from "bun:test";
import { findFaults, labelsInTemplate } from "./promql.ts";

test.each([
  ["warmpath_stream_lost", [], "warmpath_stream_lost is not in the catalogue"],
  ["warmpath_route_duration_seconds", [], "warmpath_route_duration_seconds is not in the catalogue"], // a histogram has no series of its name
  ['warmpath_stream_synchronized{tier="device"}', [], "warmpath_stream_synchronized has no label tier"],
  ['warmpath_route_duration_seconds_count{le="1"}', [], "warmpath_route_duration_seconds_count has no label le"],
  ["sum by (tier) (warmpath_ready)", [], "no metric of sum by (tier) (warmpath_ready) has the label tier"],
  ["warmpath_ready", ["rank"], "no metric of warmpath_ready has the label rank"],
  ["up", [], "no metric in up"],
])("findFaults finds what is wrong with %s and labels %j", (expression, labels, fault) => {
  expect(findFaults(expression, labels)).toEqual([fault]);
});

test("findFaults finds nothing wrong with what there is", () => {
  const expression =
    'histogram_quantile(0.9, sum by (route, le, instance) (rate(warmpath_http_request_duration_seconds_bucket{job="x", method!="GET"}[5m])))';
  expect(findFaults(expression, ["route"])).toEqual([]);
});

test("labelsInTemplate finds labels of legends and of annotations", () => {
  expect(labelsInTemplate("{{kind}} {{ outcome }} {{ $labels.rank }} {{ $value | humanize }}")).toEqual([
    "kind",
    "outcome",
    "rank",
  ]);
});
