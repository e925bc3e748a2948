import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { countRun, type CountedRun, type Said } from "../rules/counting.ts";

const START_MS = Date.parse("2026-01-01T00:00:00Z");
const MBPS = 125;
const at = (ms: number) => new Date(START_MS + ms);

const FRESH: CountedRun = {
  startedAt: at(0),
  lastCountedAt: at(0),
  meteredFromAt: undefined,
  runningMs: 0n,
  receivedBytes: 0n,
  sentBytes: 0n,
  heardRunningMs: 0n,
  heardReceivedBytes: 0n,
  heardSentBytes: 0n,
  spareMs: 0n,
  spareTrafficMs: 0n,
};

const ALONE = { previousEndAt: undefined, nextMeteredFromAt: undefined };

const says = (runningMs: number, atMs: number, more: Partial<Said> = {}): Said => ({
  runningMs: BigInt(runningMs),
  receivedBytes: 0n,
  sentBytes: 0n,
  isRunning: true,
  at: at(atMs),
  ...more,
});

/** Counts these reports in order, on an uplink of 1 Mb/s; `away` is the time in which the machine was not connected. */
function hear(said: readonly Said[], away: readonly [number, number] = [0, 0]): CountedRun {
  return said.reduce((run, one) => {
    const [fromMs, toMs] = [run.lastCountedAt.getTime() - START_MS, one.at.getTime() - START_MS];
    const missedMs = Math.max(0, Math.min(toMs, away[1]) - Math.max(fromMs, away[0]));
    const coveredMs = Math.max(0, toMs - fromMs - missedMs);
    return countRun(run, one, { coveredMs, ...ALONE, receivedBytesPerMs: MBPS, sentBytesPerMs: MBPS });
  }, FRESH);
}

/** Whole seconds in which a process ran or did not, by turns, and the delay of each report. */
const turns = fc.array(
  fc.record({
    seconds: fc.integer({ min: 1, max: 600 }),
    isRunning: fc.boolean(),
    delayMs: fc.integer({ min: 0, max: 900 }),
  }),
  { minLength: 1, maxLength: 20 },
);

function honestReports(life: readonly { seconds: number; isRunning: boolean; delayMs: number }[]): readonly Said[] {
  let [nowMs, ranMs] = [0, 0];
  return life.map(({ seconds, isRunning, delayMs }) => {
    nowMs += seconds * 1000;
    if (isRunning) ranMs += seconds * 1000;
    return says(ranMs, nowMs + delayMs, { isRunning });
  });
}

test("an honest host's reports are counted to the millisecond, with any delay", () => {
  fc.assert(
    fc.property(turns, (life) => {
      const reports = honestReports(life);
      assert.equal(hear(reports).runningMs, reports.at(-1)?.runningMs);
    }),
  );
});

test("reports that come twice, late or out of order change nothing", () => {
  fc.assert(
    fc.property(turns, fc.array(fc.tuple(fc.nat(19), fc.nat(19)), { maxLength: 10 }), (life, replays) => {
      const reports = honestReports(life.map((turn) => ({ ...turn, isRunning: true })));
      const heard = reports.flatMap((report, index) => {
        const again = replays.filter(([after]) => after === index);
        return [report, ...again.map(([, of]) => ({ ...reports[of % (index + 1)], at: report.at }) as Said)];
      });
      const late = heard.map((report) => report).concat(heard.slice(0, 3));
      assert.deepEqual(hear(late), hear(reports));
    }),
  );
});

test("with any reports counters never decrease, and stay within time and uplink", () => {
  const anything = fc.record({
    gapMs: fc.integer({ min: 0, max: 200_000 }),
    runningMs: fc.oneof(fc.nat(1_000_000), fc.constant(Number.MAX_SAFE_INTEGER)),
    bytes: fc.oneof(fc.nat(1_000_000_000), fc.constant(Number.MAX_SAFE_INTEGER)),
    isRunning: fc.boolean(),
  });
  const awayness = fc.tuple(fc.nat(500_000), fc.nat(500_000));
  fc.assert(
    fc.property(fc.array(anything, { maxLength: 30 }), awayness, (reports, [awayMs, lengthMs]) => {
      let nowMs = 0;
      const said = reports.map(({ gapMs, runningMs, bytes, isRunning }) => {
        nowMs += gapMs;
        return says(runningMs, nowMs, { isRunning, receivedBytes: BigInt(bytes), sentBytes: BigInt(bytes) });
      });
      let before = FRESH;
      for (let count = 1; count <= said.length; count += 1) {
        const [aliveMs, away] = [
          Number(said[count - 1]?.at.getTime()) - START_MS,
          [awayMs, awayMs + lengthMs] as const,
        ];
        const after = hear(said.slice(0, count), [...away]);
        const missedMs = Math.max(0, Math.min(aliveMs, away[1]) - away[0]);
        assert.ok(after.runningMs >= before.runningMs && after.receivedBytes >= before.receivedBytes);
        assert.ok(after.runningMs <= BigInt(aliveMs - missedMs), "at most the observed time");
        assert.ok(after.receivedBytes <= BigInt(aliveMs * MBPS), "at most what the uplink carries");
        assert.ok(after.meteredFromAt === undefined || after.meteredFromAt >= FRESH.startedAt);
        before = after;
      }
    }),
  );
});

test("time in which the machine was not observed does not count, neither at once nor later in pieces", () => {
  const away = [100_000, 1_300_000] as const;
  const back = hear([says(100_000, 100_000), says(1_300_000, 1_300_000)], [...away]);
  assert.equal(back.runningMs, 100_000n);
  const reports = [says(100_000, 100_000), says(1_300_000, 1_300_000), says(1_305_000, 1_305_000)];
  assert.equal(hear(reports, [...away]).runningMs, 105_000n, "it counts on from there");
  const ended = [...reports, says(1_305_000, 1_400_000, { isRunning: false })];
  assert.equal(hear(ended, [...away]).runningMs, 105_000n, "and a refused part does not come back");
  const loaded = [says(40_000, 100_000), says(1_240_000, 1_300_000)];
  assert.equal(hear(loaded, [...away]).runningMs, 40_000n, "nor does it use up spare time");
});

test("one inflated report adds no more than the time since the one before, and true reports after it are counted", () => {
  const honest = [says(10_000, 10_000), says(20_000, 20_000)];
  const lie = says(Number.MAX_SAFE_INTEGER, 25_000);
  assert.equal(hear([...honest, lie]).runningMs, 25_000n);
  assert.equal(hear([...honest, lie, says(30_000, 30_000), says(90_000, 90_000)]).runningMs, 90_000n);
});

test("many reports of one moment together use no more than all spare time", () => {
  const idle = says(0, 20_000, { isRunning: false });
  const claims = [5_000, 15_000, 18_000, Number.MAX_SAFE_INTEGER].map((runningMs) => says(runningMs, 20_000));
  assert.equal(hear([idle, ...claims.slice(0, 1)]).runningMs, 5_000n);
  assert.equal(hear([idle, ...claims, ...claims.toReversed(), ...claims]).runningMs, 20_000n);
});

test("traffic beyond what the uplink carries in the life of a run counts in no report, however often it is repeated", () => {
  const claim = { receivedBytes: BigInt(Number.MAX_SAFE_INTEGER), isRunning: false };
  const said = [40_000, 40_000, 40_001, 40_001, 40_002].map((atMs) => says(0, atMs, claim));
  assert.equal(hear(said).receivedBytes, BigInt(40_002 * MBPS));
});

test("traffic goes on being counted when its uplink is measured slower, or faster again", () => {
  let [run, receivedBytes] = [FRESH, 0n];
  for (const [index, bytesPerMs] of [100, 100, 100, 100, 5, 5, 5, 60, 60].entries()) {
    const nowMs = (index + 1) * 10_000;
    receivedBytes += BigInt(bytesPerMs * 10_000);
    const line = { receivedBytesPerMs: bytesPerMs, sentBytesPerMs: bytesPerMs };
    for (let times = 0; times < 2; times += 1) {
      run = countRun(run, says(nowMs, nowMs, { receivedBytes }), {
        coveredMs: 10_000 * (1 - times),
        ...ALONE,
        ...line,
      });
      assert.equal(run.receivedBytes, receivedBytes, `after ${nowMs} ms`);
    }
  }
});

test("traffic counts up to what the uplink carries in the time", () => {
  const bytes = (count: number) => ({ receivedBytes: BigInt(count), sentBytes: BigInt(count * 2) });
  const run = hear([says(1000, 1000, bytes(50_000)), says(2000, 2000, bytes(1_000_000))]);
  // The first report left 200 ms of the uplink to spare: sending took 800 of its 1000.
  assert.deepEqual([run.receivedBytes, run.sentBytes], [200_000n, 250_000n]);
});

test("bytes sampled a heartbeat before their report count in full, however soon after another report they come", () => {
  const bytes = (count: number) => ({ receivedBytes: BigInt(count), sentBytes: BigInt(count / 2) });
  const sample = 10_000 * MBPS * 0.5;
  // The second report comes a tenth of a second after the first, with the bytes of the ten seconds before both.
  const said = [says(10_000, 10_000), says(10_100, 10_100, bytes(sample)), says(20_000, 20_000, bytes(2 * sample))];
  assert.equal(hear(said.slice(0, 2)).receivedBytes, BigInt(sample));
  assert.deepEqual([hear(said).receivedBytes, hear(said).sentBytes], [BigInt(2 * sample), BigInt(sample)]);
});

test("an honest host's traffic is counted to the byte, for any order of samples and reports", () => {
  const step = fc.record({
    passMs: fc.integer({ min: 1, max: 30_000 }),
    rate: fc.integer({ min: 0, max: Math.floor(MBPS / 2) }),
    isSampled: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
      let [nowMs, bytes, sampled, sampledMs] = [0, 0, 0, 0];
      const said = steps.map(({ passMs, rate, isSampled }) => {
        nowMs += passMs;
        bytes += passMs * rate;
        // No sample is older than the longest heartbeat.
        if (isSampled || nowMs - sampledMs > 60_000) [sampled, sampledMs] = [bytes, nowMs];
        return says(nowMs, nowMs, { receivedBytes: BigInt(sampled), sentBytes: BigInt(sampled) });
      });
      assert.equal(hear(said).receivedBytes, BigInt(sampled));
    }),
  );
});

test("bytes repeated within one count use no more than the spare time of the uplink", () => {
  const claims = Array.from({ length: 20 }, (_, index) =>
    says(10_000, 15_000 + index, { receivedBytes: BigInt((index + 1) * 1_000_000), sentBytes: 0n }),
  );
  const run = hear([says(10_000, 10_000), ...claims]);
  assert.ok(run.receivedBytes <= 15_020n * BigInt(MBPS), String(run.receivedBytes));
});

test("a run is metered from when its process began, by the first report that proves it", () => {
  assert.equal(hear([says(0, 60_000, { isRunning: false })]).meteredFromAt, undefined);
  const run = hear([says(0, 60_000, { isRunning: false }), says(2500, 90_000), says(10_000, 97_500)]);
  assert.deepEqual(run.meteredFromAt, at(87_500));
  const fresh = hear([says(0, 600_000)]);
  assert.deepEqual([fresh.meteredFromAt, fresh.lastCountedAt], [at(600_000), at(600_000)], "it is counted from there");
  assert.deepEqual(
    hear([says(400, 90_000, { isRunning: false })]).meteredFromAt,
    at(89_600),
    "although the run has ended",
  );
});

test("a run first reported after later ones have run is counted between its neighbours, and no further", () => {
  const [before, after] = [2_000, 10_000].map((ms) => new Date(START_MS + ms));
  const line = { receivedBytesPerMs: MBPS, sentBytesPerMs: MBPS };
  const hearLate = (runningMs: number) => {
    const said = says(runningMs, 60_000, { isRunning: false });
    const neighbours = { previousEndAt: before, nextMeteredFromAt: after };
    const run = countRun(FRESH, said, { coveredMs: 10_000, ...neighbours, ...line });
    assert.ok(run.meteredFromAt);
    const fromMs = run.meteredFromAt.getTime() - START_MS;
    return [fromMs, fromMs + Number(run.runningMs)];
  };
  assert.deepEqual(hearLate(3_000), [7_000, 10_000]);
  assert.deepEqual(hearLate(9_500), [2_000, 10_000], "there was no more time between them");
});

test("with any reports in any order no two runs of an instance share a moment", () => {
  const word = fc.record({
    run: fc.nat({ max: 3 }),
    passMs: fc.nat({ max: 20_000 }),
    runningMs: fc.nat({ max: 60_000 }),
  });
  const line = { receivedBytesPerMs: MBPS, sentBytesPerMs: MBPS };
  const endOf = ({ meteredFromAt, runningMs }: CountedRun) =>
    meteredFromAt === undefined ? [] : [meteredFromAt.getTime() + Number(runningMs)];
  fc.assert(
    fc.property(fc.array(word, { maxLength: 20 }), (words) => {
      // All of them may have been begun at once, by a server whose clock was behind.
      const runs: CountedRun[] = [FRESH, FRESH, FRESH, FRESH];
      let nowMs = 0;
      for (const { run: index, passMs, runningMs } of words) {
        nowMs += passMs;
        const run = runs[index] ?? FRESH;
        const ends = runs.slice(0, index).flatMap(endOf);
        const begins = runs.slice(index + 1).flatMap(({ meteredFromAt }) => meteredFromAt?.getTime() ?? []);
        const toMs = Math.min(START_MS + nowMs, ...begins);
        runs[index] = countRun(run, says(runningMs, nowMs, { isRunning: runningMs % 2 === 0 }), {
          coveredMs: Math.max(0, toMs - run.lastCountedAt.getTime()),
          previousEndAt: ends.length === 0 ? undefined : new Date(Math.max(...ends)),
          nextMeteredFromAt: begins.length === 0 ? undefined : new Date(Math.min(...begins)),
          ...line,
        });
      }
      let reachedMs = START_MS;
      for (const run of runs) {
        if (run.meteredFromAt === undefined) continue;
        assert.ok(run.meteredFromAt.getTime() >= reachedMs, "it begins after the previous run");
        [reachedMs = 0] = endOf(run);
      }
    }),
    { numRuns: 2_000 },
  );
});
