import assert from "node:assert/strict";
import { test } from "node:test";
import { nanos } from "../../../../../base/money.ts";
import { bandOf } from "./price-band.ts";

const ask = (hostId: number, price: bigint, count = 1) => ({ hostId, price: nanos(price), count });

test("a band counts each GPU once, not each machine", () => {
  const band = bandOf([ask(1, 300n, 8), ask(2, 100n), ask(3, 200n)]);
  assert.deepEqual(band, {
    kind: "shown",
    gpuCount: 10,
    hostCount: 3,
    percentiles: { p10: 100n, p25: 300n, p50: 300n, p75: 300n, p90: 300n },
  });
});

test("prices of fewer than three hosts are withheld, however many GPUs they have", () => {
  assert.deepEqual(bandOf([ask(1, 100n, 50), ask(1, 200n, 50), ask(2, 300n, 50), ask(3, 1n, 0)]), {
    kind: "withheld",
    gpuCount: 150,
    hostCount: 2,
  });
  assert.deepEqual(bandOf([]), { kind: "withheld", gpuCount: 0, hostCount: 0 });
});
