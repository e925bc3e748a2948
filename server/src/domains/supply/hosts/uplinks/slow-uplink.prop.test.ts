import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { slowDirections, type UplinkSpeed } from "./slow-uplink.ts";

const mbps = fc.double({ min: 1, max: 400_000, noNaN: true });
const lines: fc.Arbitrary<UplinkSpeed> = fc.record({ upMbps: mbps, downMbps: mbps });
const measuredOf = (line: UplinkSpeed, probeCount = 3) => ({ ...line, probeCount, lastAt: new Date(0) });
const narrower = (one: UplinkSpeed, other: UplinkSpeed, share: number): UplinkSpeed => ({
  upMbps: Math.min(one.upMbps, other.upMbps) * share,
  downMbps: Math.min(one.downMbps, other.downMbps) * share,
});

test("a host that declares its true uplink is not flagged, for any speed of the server's uplink and of other hosts", () => {
  const share = fc.double({ min: 0.101, max: 1, noNaN: true });
  const property = fc.property(lines, lines, lines, share, share, (own, server, other, ownShare, otherShare) => {
    const measured = measuredOf(narrower(own, server, ownShare));
    assert.deepEqual(slowDirections(own, measured, narrower(other, server, otherShare)), []);
  });
  fc.assert(property);
});

test("an uplink that is declared more than ten times as fast as it is measured is flagged where the server carried more", () => {
  const factor = fc.double({ min: 10.1, max: 1_000, noNaN: true });
  fc.assert(
    fc.property(lines, factor, factor, (own, lie, carried) => {
      const times = (by: number): UplinkSpeed => ({ upMbps: own.upMbps * by, downMbps: own.downMbps * by });
      const found = slowDirections(times(lie), measuredOf(own), times(carried));
      assert.deepEqual(
        found.map(({ direction }) => direction),
        ["up", "down"],
      );
      assert.deepEqual(slowDirections(times(lie), measuredOf(own, 2), times(carried)), [], "two measurements are few");
      assert.deepEqual(slowDirections(times(lie), measuredOf(own), undefined), [], "nobody else was measured");
    }),
  );
});
