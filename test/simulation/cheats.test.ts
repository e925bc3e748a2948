// As many seeds of the market of cheats as fit into half a minute, on machines of any speed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { TEST_SEED } from "../support/seed.ts";
import { KINDS } from "./cheats-play.ts";
import { runCheats } from "./cheats-run.ts";
import { CheatsWorld } from "./cheats-world.ts";

const PLAY_MS = 30_000;
const BATCH = 25;
/** Seeds of different runs lie far apart. */
const SEEDS_PER_RUN = 100_000;

test("nobody gains by cheating, whoever does what in whatever order", async (t) => {
  const world = await CheatsWorld.begin(t);
  const endMs = performance.now() + PLAY_MS;
  const firstSeed = (TEST_SEED % 10_000) * SEEDS_PER_RUN;
  const goesOn = () => performance.now() < endMs;
  const report = await runCheats(world, { firstSeed, batch: BATCH, goesOn });
  assert.deepEqual(
    report.failures.map(({ story }) => story),
    [],
  );
  assert.deepEqual(report.differences, [], "the books differ");
  const drawn = [...report.deeds.keys()];
  assert.ok(drawn.length > KINDS.length / 2, `only ${drawn.join(", ")} were done`);
  t.diagnostic(`${report.seedCount} seeds from ${firstSeed} on`);
});
