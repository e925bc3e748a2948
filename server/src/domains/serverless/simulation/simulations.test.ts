import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../../../../test/support/manual-clock.ts";
import { AppError } from "../../../base/errors.ts";
import { asId, type UserId } from "../../../base/ids.ts";
import { nanos } from "../../../base/money.ts";
import { DEFAULT_PARAMETERS } from "../endpoints/rules/parameters.ts";
import { Simulations } from "./simulations.ts";
import type { Trial } from "./trial.ts";

const [one, two, three] = [asId<UserId>(1), asId<UserId>(2), asId<UserId>(3)];
const NEVER_DONE = new URL("data:text/javascript,for(;;);");
const GREEDY = new URL("data:text/javascript,const all=[];for(;;)all.push(new Array(1e6).fill({}));");
const BROKEN = new URL("data:text/javascript,throw new Error('broken');");
const staying = { hungUp: new AbortController().signal };

async function gather(): Promise<{ readonly trial: Trial }> {
  return {
    trial: {
      traffic: { kind: "requests", rows: [Float64Array.of(0, 50)] },
      ...{ present: DEFAULT_PARAMETERS, proposed: DEFAULT_PARAMETERS },
      model: {
        ...{ perf: 100, parallelCount: 1, firstStartsMs: [1_000], warmStartsMs: [1_000] },
        ...{ priceNanosPerHour: nanos(1n), coldPriceNanosPerHour: nanos(1n) },
      },
      ...{ countedFromMs: 0, untilMs: 0, intervalMs: 1_000 },
    },
  };
}

const limited = (pattern: RegExp) => (error: unknown) =>
  error instanceof AppError && error.kind === "rate_limited" && pattern.test(error.publicMessage);

test("an account runs one simulation at a time and a process two, and a place is free again afterwards", async () => {
  const simulations = new Simulations(new ManualClock(), NEVER_DONE);
  const hungUp = new AbortController();
  const first = simulations.run(one, gather, { hungUp: hungUp.signal });
  const second = simulations.run(two, gather, staying);
  await assert.rejects(simulations.run(one, gather, staying), limited(/of yours/));
  await assert.rejects(simulations.run(three, gather, staying), limited(/Other simulations/));
  hungUp.abort();
  await assert.rejects(first, /called off/);
  const others = [second, simulations.run(three, gather, staying)].map((run) => assert.rejects(run, /called off/));
  simulations.stop();
  await Promise.all(others);
});

test("a simulation that takes too much time or memory is ended and reported as such", async () => {
  const clock = new ManualClock();
  const simulations = new Simulations(clock, NEVER_DONE);
  const { promise: isGathered, resolve: gathered } = Promise.withResolvers<void>();
  const outcome = simulations.run(
    one,
    async () => {
      gathered();
      return gather();
    },
    staying,
  );
  await isGathered;
  // The gathered input is handed over in the turns after this one.
  await new Promise(setImmediate);
  clock.advance(20_000);
  assert.equal((await outcome).kind, "too_much");
  assert.equal((await new Simulations(clock, GREEDY).run(one, gather, staying)).kind, "too_much");
});

test("a thread that breaks is an internal error, and takes no place afterwards", async () => {
  const simulations = new Simulations(new ManualClock(), BROKEN);
  await assert.rejects(simulations.run(one, gather, staying), /broken/);
  await assert.rejects(simulations.run(one, gather, staying), /broken/);
  await assert.rejects(
    simulations.run(one, () => Promise.reject(new Error("nothing is gathered")), staying),
    /nothing is gathered/,
  );
  assert.equal((await new Simulations(new ManualClock()).run(one, gather, staying)).kind, "done");
});
