// Some seeds of the market of cheats; `./berth bench cheats` plays any number of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { TEST_SEED } from "../../support/seed.ts";
import { KINDS } from "./play.ts";
import { runCheats } from "./run.ts";
import { CheatsWorld } from "./world.ts";

const SEEDS = Number(process.env["BERTH_CHEATS_SEEDS"] ?? 25);
const BATCH = 25;
/** Seeds of different runs lie far apart. */
const SEEDS_PER_RUN = 100_000;

test("nobody gains by cheating, in any order of deeds", async (t) => {
  const world = await CheatsWorld.begin(t);
  const firstSeed = (TEST_SEED % 10_000) * SEEDS_PER_RUN;
  const goesOn = (seedCount: number) => seedCount < SEEDS;
  const report = await runCheats(world, { firstSeed, batch: BATCH, goesOn });
  assert.deepEqual(
    report.failures.map(({ story }) => story),
    [],
  );
  assert.deepEqual(report.differences, [], "the books differ");
  const drawn = [...report.deeds.keys()];
  assert.ok(drawn.length > KINDS.length / 2, `only ${drawn.join(", ")} were done`);
  t.diagnostic(`${report.seedCount} seeds from ${firstSeed} on (BERTH_TEST_SEED, BERTH_CHEATS_SEEDS)`);
});
