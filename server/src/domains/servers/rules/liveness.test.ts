import assert from "node:assert/strict";
import { test } from "node:test";
import { asId, type ServerId } from "../../../base/ids.ts";
import { BEAT_EVERY_MS, FIRST_WATCH, SILENCE_MS, watchBeats, type Beat, type Watch } from "./liveness.ts";

const aBeat = (id: number, beatCount: number, isStopped = false): Beat => ({
  id: asId<ServerId>(id),
  beatCount: BigInt(beatCount),
  isStopped,
});

/** Looks every two seconds at the beats of `beatsAt`; returns the ids that are dead at each look. */
function look(
  count: number,
  beatsAt: (index: number) => readonly Beat[],
  pauses: ReadonlyMap<number, number> = new Map(),
) {
  let watch: Watch = FIRST_WATCH;
  let nowMs = 0;
  return Array.from({ length: count }, (_, index) => {
    nowMs += BEAT_EVERY_MS + (pauses.get(index) ?? 0);
    const seen = watchBeats(watch, beatsAt(index), nowMs);
    watch = seen.watch;
    return seen.dead.map(({ id }) => id as number);
  });
}

test("a server is dead once its beat has stood still for ten seconds, and not before", () => {
  const dead = look(8, (index) => [aBeat(1, Math.min(index, 1)), aBeat(2, index)]);
  const looks = SILENCE_MS / BEAT_EVERY_MS;
  assert.deepEqual(
    dead,
    Array.from({ length: 8 }, (_, index) => (index >= 1 + looks ? [1] : [])),
  );
});

test("a server that stopped in good order is dead at once", () => {
  assert.deepEqual(
    look(1, () => [aBeat(1, 5, true), aBeat(2, 0)]),
    [[1]],
  );
});

test("a pause of the one who looks, as when the database is away, proves nobody's death", () => {
  const pauses = new Map([[4, 60_000]]);
  const dead = look(9, () => [aBeat(1, 3)], pauses);
  assert.deepEqual(dead.slice(0, 9), [[], [], [], [], [], [], [], [], []]);
});
