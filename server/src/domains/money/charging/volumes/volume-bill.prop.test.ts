import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { asId, type MachineId, type NetworkDiskId, type UserId, type VolumeId } from "../../../../base/ids.ts";
import { nanos } from "../../../../base/money.ts";
import type { MachineSpans } from "../../../supply/hosts/index.ts";
import type { BillableVolume } from "../../../supply/volumes/for-charging.ts";
import { lineAmount } from "../lines/lines.ts";
import { volumeBillOf } from "./volume-bill.ts";

const START_MS = Date.parse("2026-01-01T00:00:00Z");
const HOUR_MS = 3_600_000;
const at = (hours: number) => new Date(START_MS + hours * HOUR_MS);
const machine = (id: number) => asId<MachineId>(id);
const through = (id: number, sinceHour?: number) => ({
  machineId: machine(id),
  since: sinceHour === undefined ? undefined : at(sinceHour),
});

/** 720 GB at a dollar for each GB and month: a dollar an hour. */
const DOLLAR = 1_000_000_000n;
const VOLUME: BillableVolume = {
  id: asId<VolumeId>(5),
  userId: asId<UserId>(1),
  capScopes: [],
  hostId: asId<UserId>(2),
  machineId: machine(1),
  networkDiskId: undefined,
  reachedThrough: [through(1)],
  sizeBytes: 720_000_000_000n,
  priceNanosPerGbMonth: nanos(DOLLAR),
  chargedUntilAt: at(0),
  deletingAt: undefined,
  holdId: undefined,
};

type Times = readonly (readonly [fromHour: number, untilHour: number | undefined])[];
const spansOf = (times: Times, lastSeenHour: number): MachineSpans => ({
  spans: times.map(([from, until]) => ({ fromAt: at(from), untilAt: until === undefined ? undefined : at(until) })),
  lastSeenAt: at(lastSeenHour),
});

const costOf = (volume: BillableVolume, machines: readonly MachineSpans[], nowHour: number) => {
  const spans = new Map(machines.map((own, index) => [machine(index + 1), own]));
  const bill = volumeBillOf(volume, spans, at(nowHour));
  const hours = (bill.chargedUntilAt.getTime() - START_MS) / HOUR_MS;
  const dollars = Number(bill.lines.reduce((sum, line) => sum + lineAmount(line), 0n)) / Number(DOLLAR);
  return { dollars, until: hours, isLast: bill.isLast };
};

test("a volume is charged for the time in which its machine was in touch, and for no other", () => {
  const away = spansOf(
    [
      [0, 3],
      [5, undefined],
    ],
    9,
  );
  assert.deepEqual(costOf(VOLUME, [away], 9.5), { dollars: 7, until: 9, isLast: false });
});

test("the time of a machine that is away is settled once it is gone for certain", () => {
  const gone = spansOf([[0, 3]], 3);
  assert.deepEqual(costOf(VOLUME, [gone], 9), { dollars: 3, until: 3, isLast: false });
  // Less a minute: it may return now, to a server whose clock is behind.
  assert.deepEqual(costOf(VOLUME, [gone], 28), { dollars: 3, until: 28 - 1 / 60, isLast: false });
});

test("a deleted volume costs nothing after its owner's request, and is settled up to it", () => {
  const present = spansOf([[0, undefined]], 9);
  const deleted = { ...VOLUME, deletingAt: at(4) };
  assert.deepEqual(costOf(deleted, [present], 9), { dollars: 4, until: 4, isLast: true });
  const early = spansOf([[0, undefined]], 3);
  assert.deepEqual(costOf(deleted, [early], 9), { dollars: 3, until: 3, isLast: false });
});

test("a network volume is charged for the time in which any machine with its disk was in touch, each hour once", () => {
  const network = {
    ...VOLUME,
    machineId: undefined,
    networkDiskId: asId<NetworkDiskId>(1),
    reachedThrough: [through(1, 0), through(2, 0)],
  };
  const one = spansOf(
    [
      [0, 3],
      [8, undefined],
    ],
    10,
  );
  const other = spansOf([[2, undefined]], 6);
  assert.deepEqual(costOf(network, [one, other], 11), { dollars: 6, until: 6, isLast: false });
  assert.deepEqual(costOf({ ...network, reachedThrough: [] }, [], 11), { dollars: 0, until: 11, isLast: false });
});

test("a machine proves nothing about a network volume before it mounted its disk", () => {
  const network = { ...VOLUME, machineId: undefined, networkDiskId: asId<NetworkDiskId>(1) };
  const away = spansOf([[0, 3]], 3);
  const back = spansOf(
    [
      [0, 3],
      [29, undefined],
    ],
    30,
  );
  const there = spansOf([[0, undefined]], 30);
  const late = { ...network, reachedThrough: [through(1, 0), through(2, 5)] };
  assert.deepEqual(costOf(late, [back, there], 30), { dollars: 28, until: 30, isLast: false });
  // A machine that mounts the disk while it is away does not hold up the settlement of time before that.
  assert.deepEqual(costOf({ ...network, reachedThrough: [through(1, 4)] }, [away], 9), {
    dollars: 0,
    until: 4,
    isLast: false,
  });
});

test("repeated settlements charge each stretch of a volume's time once", () => {
  const edges = fc.uniqueArray(fc.integer({ min: 0, max: 200 }), { minLength: 2, maxLength: 12 });
  fc.assert(
    fc.property(edges, fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 8 }), (marks, moments) => {
      const sorted = marks.toSorted((a, b) => a - b);
      const times: [number, number][] = [];
      for (let index = 0; index + 1 < sorted.length; index += 2)
        times.push([sorted[index] ?? 0, sorted[index + 1] ?? 0]);
      const spans = new Map([[machine(1), spansOf(times, times.at(-1)?.[1] ?? 0)]]);
      let volume = VOLUME;
      let quantity = 0n;
      for (const moment of [...moments.toSorted((a, b) => a - b), 300]) {
        // Later events are not known at that moment.
        const known = spansOf(
          times.filter(([from]) => from < moment).map(([from, until]) => [from, until > moment ? undefined : until]),
          Math.min(moment, times.findLast(([from]) => from < moment)?.[1] ?? 0),
        );
        const seen = moment === 300 ? spans : new Map([[machine(1), known]]);
        const bill = volumeBillOf(volume, seen, at(moment));
        quantity += bill.lines.reduce((sum, line) => sum + line.quantity, 0n);
        assert.ok(bill.chargedUntilAt >= volume.chargedUntilAt);
        volume = { ...volume, chargedUntilAt: bill.chargedUntilAt };
      }
      const inTouchHours = times.reduce((sum, [from, until]) => sum + until - from, 0);
      assert.equal(quantity, BigInt(inTouchHours * HOUR_MS));
    }),
  );
});
