import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { asId, type InstanceId, type MachineId } from "../../../../base/ids.ts";
import { belowProxied, COUNTED_LATER_MS } from "./proxied-traffic.ts";

const SECOND_MS = 1_000;
const SAMPLED_BEFORE_MS = 150 * SECOND_MS;
/** Larger than any difference between the clocks of two servers. */
const SKEW_MAX_MS = 20 * SECOND_MS;
const STARTED_AT = new Date(0);
const ids = { instanceId: asId<InstanceId>(7), machineId: asId<MachineId>(3), startedAt: STARTED_AT };

/**
 * Bytes that a container sends: `afterMs` after the previous ones, and the part of its packets' bytes that the proxy
 * carries.
 */
const burst = fc.record({
  afterMs: fc.nat({ max: 600 * SECOND_MS }),
  bytes: fc.bigInt({ min: 0n, max: 200_000_000_000n }),
  proxiedPermille: fc.bigInt({ min: 0n, max: 1000n }),
  headerPermille: fc.bigInt({ min: 0n, max: 100n }),
});

test("a host that counts what its container sent is never flagged, for any delay of its samples and any traffic of the renter", () => {
  const property = fc.property(
    fc.array(burst, { minLength: 1, maxLength: 30 }),
    fc.nat({ max: 18_000 * SECOND_MS }),
    fc.nat({ max: 3_600 * SECOND_MS }),
    fc.nat({ max: SAMPLED_BEFORE_MS }),
    fc.integer({ min: -SKEW_MAX_MS, max: SKEW_MAX_MS }),
    fc.integer({ min: 1, max: 1_000_000 }),
    (bursts, notedMs, laterMs, sampledBeforeMs, skewMs, bytesPerMs) => {
      const countedMs = notedMs + COUNTED_LATER_MS + laterMs;
      // The two moments may come from the clocks of two servers.
      const sampledMs = countedMs + skewMs - sampledBeforeMs;
      let [atMs, proxiedBytes, countedBytes] = [0, 0n, 0n];
      for (const { afterMs, bytes, proxiedPermille, headerPermille } of bursts) {
        atMs += afterMs;
        if (atMs <= notedMs) proxiedBytes += (bytes * proxiedPermille) / 1000n;
        if (atMs <= sampledMs) countedBytes += bytes + (bytes * headerPermille) / 1000n;
      }
      // Counters beyond the declared uplink count only as far as it carries.
      const carriedBytes = BigInt(countedMs) * BigInt(bytesPerMs);
      const heardSentBytes = countedBytes < carriedBytes ? countedBytes : carriedBytes;
      const run = { ...ids, countedAt: new Date(countedMs), proxiedBytes, heardSentBytes };
      assert.equal(belowProxied(run, bytesPerMs), undefined);
    },
  );
  fc.assert(property);
});

test("a host that hides more than a tenth of the proxied bytes, and more than a gigabyte, is flagged", () => {
  const property = fc.property(
    fc.bigInt({ min: 1_100_000_000n, max: 1_000_000_000_000_000n }),
    fc.bigInt({ min: 0n, max: 899n }),
    (proxiedBytes, toldPermille) => {
      const heardSentBytes = (proxiedBytes * toldPermille) / 1000n;
      fc.pre(proxiedBytes - heardSentBytes > 1_000_000_000n);
      const run = { ...ids, countedAt: new Date(3_600 * SECOND_MS), proxiedBytes, heardSentBytes };
      assert.equal(belowProxied(run, 1e12)?.kind, "traffic_below_proxied");
    },
  );
  fc.assert(property);
});
