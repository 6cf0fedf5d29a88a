import { describe, expect, test } from "bun:test";
import { axisFor } from "./axis.ts";
import { drawLineCharts, type LineChart } from "./line-charts.ts";

describe("An axis", () => {
  test("A linear one has round lines from 0 to beyond the largest value", () => {
    expect(axisFor([0.1, 0.37], "linear").ticks).toEqual([0, 0.1, 0.2, 0.3, 0.4]);
    expect(axisFor([7], "linear").ticks).toEqual([0, 2, 4, 6, 8]);
    expect(axisFor([0], "linear").ticks).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(axisFor([7], "linear").place(2)).toBe(0.25);
  });

  test("A logarithmic one has lines at 1, 2 and 5 around all values", () => {
    const axis = axisFor([63, 2548], "logarithmic");
    expect(axis.ticks).toEqual([50, 100, 200, 500, 1000, 2000, 5000]);
    expect([50, 500, 5000].map((value) => axis.place(value))).toEqual([0, 0.5, 1]);
  });

  test("A logarithmic one of a single value has room above and below", () => {
    expect(axisFor([100], "logarithmic").ticks).toEqual([100, 200]);
    expect(axisFor([0.03], "logarithmic").ticks).toEqual([0.02, 0.05]);
  });
});

describe("drawLineCharts", () => {
  const chart: LineChart = {
    title: "a < b",
    kind: "linear",
    columns: ["4", "8"],
    lines: [
      { name: "first & best", values: [1, 2] },
      { name: "bound", values: [4, 4] },
    ],
    format: (value) => `${value} s`,
  };
  const svg = drawLineCharts("All", "instances", [[chart, chart], [chart]]);

  test("Texts are escaped, and the document has a title", () => {
    expect(svg).toContain("<title>All</title>");
    expect(svg).toContain("a &lt; b");
    expect(svg).toContain("first &amp; best");
  });

  test("A line goes through its values, and the bound is dashed", () => {
    // 200 by 140 from (48, 26): columns at 98 and 198; 1, 2 and 4 of 4 at three quarters, half and none of the height.
    expect(svg.match(/M98 131L198 96"/g)).toHaveLength(3);
    expect(svg.match(/M98 26L198 26" [^>]*stroke-dasharray/g)).toHaveLength(3);
  });

  test("It is as large as its rows and columns", () => {
    expect(svg).toContain('width="520" height="450"');
  });
});
