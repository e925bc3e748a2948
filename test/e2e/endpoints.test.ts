// Endpoint groups on real containers: requests come, more of them, and none. Workers are rented, stopped, started and let go
// for them; others crash, lie about what they serve, or fall silent. Three hosts share this machine's engine.
import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import { docker } from "../support/hosts/docker.ts";
import { assertBill } from "../support/money/endpoint-bill.ts";
import {
  makeEndpoint,
  UNITS_PER_SECOND,
  type Endpoint,
  type EndpointEvent,
  type WorkerRecord,
} from "../support/serverless/endpoint-group.ts";
import { countedBy, type EndpointLoad, type Outcome } from "../support/serverless/endpoint-load.ts";
import { NO_REMAINS, startEndpointMarket, type EndpointMarket } from "../support/serverless/endpoint-market.ts";
import { aRenter, type Renter } from "../support/renter.ts";
import { until } from "../support/until.ts";
import { workerImage } from "../support/serverless/worker-image.ts";

const HOSTS = 3;
const FIRST_PORT = 31_900;
const PEAK_PER_SECOND = 50;
/** Three workers serve more than the peak. */
const WORKERS_MAX = 3;
/** Requests of the program that measures itself before anybody asks, and then of ours. */
const BENCHMARK_REQUESTS = 5;
const ANSWERED = 2;
const CLAIM = UNITS_PER_SECOND * 10;
/** A load for which one worker is too few, and two are too many. */
const STEADY_PER_SECOND = UNITS_PER_SECOND * 1.25;
const STEADY_WORKERS = 2;
/** A load that lasts for so long is expected to last. */
const KNOWN_AFTER_S = 20;
/** The pauses of a group after its first, second and third failure. */
const BACK_OFF_S = [10, 20, 40] as const;

const isReady = ({ status }: WorkerRecord) => status === "idle";
const isStopped = ({ status }: WorkerRecord) => status === "stopped";

describe("endpoint groups on three hosts", () => {
  let market: EndpointMarket;
  let renter: Renter;
  let story: Endpoint;
  let crashing: Endpoint;
  let lying: Endpoint;
  let silent: Endpoint;
  let renewed: Endpoint;
  let renewedGroup: number;
  const loads = new Map<Endpoint, EndpointLoad>();
  /** The request at which it fell silent. */
  let hung: Promise<Outcome>;
  const cleanups = new AsyncDisposableStack();

  /** Waits; a wait in vain fails with the story of the endpoint. */
  const untilStory = async <T>(endpoint: Endpoint, what: string, probe: () => Promise<T | undefined>): Promise<T> => {
    try {
      return await until(`${endpoint.options.endpoint}: ${what}`, probe);
    } catch (cause) {
      throw new Error(await endpoint.explained(), { cause });
    }
  };
  const untilWorkers = (endpoint: Endpoint, what: string, isIt: (workers: readonly WorkerRecord[]) => boolean) =>
    untilStory(endpoint, what, async () => {
      const workers = await endpoint.workers();
      if (isIt(workers)) return workers;
      throw new Error(JSON.stringify(workers));
    });
  const untilTold = (endpoint: Endpoint, pattern: RegExp) =>
    untilStory(endpoint, `tells ${pattern}`, async () =>
      (await endpoint.events()).find(({ sentence }) => pattern.test(sentence)),
    );
  const loadOf = (endpoint: Endpoint): EndpointLoad => {
    const load = loads.get(endpoint) ?? endpoint.load();
    loads.set(endpoint, load);
    return load;
  };
  /** All workers that an endpoint ever had. */
  const workersOf = async (endpoint: Endpoint) => [
    ...new Set((await endpoint.events()).flatMap(({ worker_id: id }) => id ?? [])),
  ];

  const machineOf = async (endpoint: Endpoint, id: number | undefined) =>
    (await endpoint.events())
      .map(
        ({ worker_id: worker, sentence }) =>
          worker === id && /^Worker \d+ is rented on machine (\d+)/.exec(sentence)?.[1],
      )
      .find((machine) => typeof machine === "string");

  before(async () => {
    const image = await workerImage();
    market = cleanups.adopt(await startEndpointMarket(HOSTS, FIRST_PORT), (each) => each.close());
    const { berth, containers } = market;
    renter = cleanups.adopt(await aRenter({ berth: () => berth, image, containers }, "endpoints"), (each) =>
      each.close(),
    );
    const made = (name: string, ...words: readonly string[]) =>
      makeEndpoint({ renter, image, url: berth.url }, name, ...words);
    const one = ["--test-workers", "1", "--cold-workers", "1"];
    story = await made(
      ...["story", "--min-load", "0", "--cold-workers", "1", "--max-workers", String(WORKERS_MAX)],
      ...["--cold-mult", "0.5", "--inactivity-timeout", "5"],
    );
    await story.addGroup({}, ...one);
    const always = ["--min-load", "1", "--cold-workers", "1", "--max-workers", "2", "--cold-mult", "1"];
    silent = await made("silent", ...always);
    await silent.addGroup({ TEST_SILENT_AFTER: BENCHMARK_REQUESTS + ANSWERED + 1 }, ...one);
    crashing = await made("crashing", ...always);
    await crashing.addGroup({ TEST_CRASH_AFTER: 1 }, ...one);
    const both = ["--min-load", String(CLAIM + 1), "--cold-workers", "2", "--max-workers", "2", "--cold-mult", "1"];
    lying = await made("lying", ...both);
    await lying.addGroup({ TEST_CLAIMED_PERF: CLAIM }, ...one, "--max-workers", "1");
    await lying.addGroup({}, ...one, "--max-workers", "1");
    const steady = ["--min-load", String(STEADY_PER_SECOND), "--cold-workers", String(STEADY_WORKERS)];
    renewed = await made("renewed", ...steady, "--max-workers", String(STEADY_WORKERS + 2), "--cold-mult", "1");
    renewedGroup = await renewed.addGroup({ TEST_RECIPE: 1 }, "--test-workers", String(STEADY_WORKERS));
  });
  const abandonLoads = async () => {
    const abandoned = [...loads.values()].map((load) => load.abandon());
    loads.clear();
    await Promise.all(abandoned);
  };
  // The load of a failed test would only slow down those after it.
  afterEach(async (context) => {
    if (!("passed" in context && context.passed)) await abandonLoads();
  });
  after(async () => {
    await abandonLoads();
    await cleanups.disposeAsync();
  });

  test("one worker is measured first; more come as the load rises, and each request is answered once", async () => {
    await untilWorkers(silent, "a worker", (workers) => workers.some(isReady));
    for (let count = 0; count < ANSWERED; count += 1) assertAnswered([await loadOf(silent).ask()], "so far");
    hung = loadOf(silent).ask();
    const [first] = await untilWorkers(story, "one worker", (workers) => workers.every(isReady));
    assert.ok(first !== undefined && Math.abs((first.measured_perf ?? 0) - UNITS_PER_SECOND) < UNITS_PER_SECOND / 2);
    const load = loadOf(story);
    load.setRate(PEAK_PER_SECOND / 10);
    await until("some answers", () => load.outcomes.length > 5);
    load.setRate(PEAK_PER_SECOND);
    await untilWorkers(story, "all workers", (workers) => workers.filter(isReady).length === WORKERS_MAX);
    const enough = load.sentCount;
    await until("answers to all who came before the last worker", () => load.outcomes.length >= enough);
    load.setRate(PEAK_PER_SECOND / 10);
    const more = load.sentCount + 10;
    await until("the end of the peak", () => load.sentCount >= more);
    assertAnswered(await load.stop());
  });

  test("one that claims ten times what it serves gets everything, until it was seen: then others get it", async () => {
    const workers = await untilWorkers(lying, "both workers", (all) => all.filter(isReady).length === 2);
    const liar = workers.find(({ measured_perf: claim }) => claim === CLAIM);
    assert.ok(liar !== undefined);
    const load = loadOf(lying);
    load.setRate(PEAK_PER_SECOND);
    const told = await untilTold(lying, /says that it serves 200 units a second, but served \d+(\.\d+)? while it/);
    load.setRate(0);
    assert.equal(told.worker_id, liar.id);
    const before = load.outcomes.flatMap((outcome) => ("problem" in outcome ? [] : outcome.served.worker));
    assert.ok(before.filter((id) => id === liar.id).length > before.length / 2, "it was believed at first");
    const later = await Promise.all(Array.from({ length: 2 * UNITS_PER_SECOND }, () => load.ask()));
    assertAnswered(later, "requests that came later");
    // As long as its claim is believed, it gets ten of eleven; once its real speed is known, at most half after catching up.
    const others = later.filter((outcome) => "served" in outcome && outcome.served.worker !== liar.id);
    assert.ok(others.length > later.length / 3, `others served ${others.length} of ${later.length}`);
    const seen = (await lying.workers()).find(({ id }) => id === liar.id)?.perf ?? Infinity;
    assert.ok(seen < CLAIM / 5, String(seen));
  });

  test("another recipe comes to one worker after the other: all requests are served at once, and capacity in use stays", async () => {
    await untilWorkers(renewed, "both workers", (workers) => workers.filter(isReady).length === STEADY_WORKERS);
    const load = loadOf(renewed);
    load.setRate(STEADY_PER_SECOND);
    await until("enough answers", () => load.outcomes.length > STEADY_PER_SECOND * KNOWN_AFTER_S);
    await renewed.changeGroup(renewedGroup, { TEST_RECIPE: 2 });
    await untilTold(renewed, /^All workers of worker group \d+ have its present recipe\.$/);
    assertAnswered(await load.stop());
    assert.equal(load.triedCount, load.sentCount, "no worker was ended, or refused one, that had been sent a request");
    const counts = countsTakingRequests(await renewed.events());
    assert.ok(counts.includes(STEADY_WORKERS + 1), "somebody stood in");
    const begun = counts.indexOf(STEADY_WORKERS);
    assert.deepEqual(
      counts.slice(begun).filter((count) => count < STEADY_WORKERS),
      [],
    );
    const workers = (await renewed.workers()).filter(isReady);
    assert.ok(workers.length >= STEADY_WORKERS);
    let seenCount = 0;
    for (const { id } of workers) {
      const containers = await market.containers(id);
      const asked = docker("inspect", "--format", "{{json .Config.Env}}", ...containers);
      const variables = await asked.catch(() => undefined);
      // Who stood in may be let go meanwhile.
      if (variables === undefined && (await market.containers(id)).length === 0) continue;
      assert.ok(variables !== undefined);
      assert.ok(variables.includes('"TEST_RECIPE=2"') && containers.length === 1, variables);
      seenCount += 1;
    }
    assert.ok(seenCount >= STEADY_WORKERS);
  });

  test("without requests they go cold; those that need not be kept go, and the next request brings the last one back", async () => {
    const cold = await untilWorkers(story, "all stopped", (workers) => workers.every(isStopped));
    assert.ok(cold.length >= 2, "as many as half of the peak takes");
    await renter.told("endpoint", "update", String(story.id), "--cold-workers", "0", "--cold-mult", "0.01");
    const [left] = await untilWorkers(story, "one is left", (workers) => workers.length === 1);
    const again = story.load();
    loads.set(story, again);
    const answer = await again.ask();
    assertAnswered([answer]);
    const isLeftOne = "served" in answer && answer.served.worker === left?.id;
    assert.ok(isLeftOne, isLeftOne ? "" : `it is started, and nobody has to be rented\n${await story.explained()}`);
  });

  test("a group whose workers crash rents less and less often, on another machine each time, and costs next to nothing", async () => {
    await untilTold(crashing, /nothing is rented.* 3 workers in a row failed|no offer matches/);
    const events = await crashing.events();
    const rented = events.filter(({ sentence }) => /^Worker \d+ is rented on machine /.test(sentence));
    const failed = events.filter(({ sentence }) => /failed: its container ended by itself/.test(sentence));
    const machines = await Promise.all(rented.map(({ worker_id: id }) => machineOf(crashing, id)));
    assert.equal(new Set(machines).size, rented.length);
    assert.ok(rented.length >= 2 && rented.length <= HOSTS, String(rented.length));
    for (const [index, { at }] of failed.entries()) {
      const next = rented[index + 1]?.at ?? Infinity;
      assert.ok(next - at >= (BACK_OFF_S[index] ?? 0), `${next - at} s after failure ${index + 1}`);
    }
    assert.match(await crashing.explained(), /The group rents again in 20 seconds\. It is the 2nd in a row\./);
  });

  test("one that falls silent is replaced on another machine, and the request that it had is answered there", async () => {
    const told = await untilTold(silent, /failed: it has not reported for \d+ seconds/);
    const answer = await hung;
    assertAnswered([answer]);
    assert.ok("served" in answer && answer.served.worker !== told.worker_id);
    const rented = await Promise.all([told.worker_id, answer.served.worker].map((id) => machineOf(silent, id)));
    assert.equal(new Set(rented).size, 2);
  });

  test("./berth endpoint explain tells the story in its order", async () => {
    const [events, text] = [await story.events(), await story.explained()];
    const reasons = events.flatMap(({ kind, detail }) => (kind === "decision" ? (detail.reason ?? []) : []));
    assertInOrder(reasons, ["learning", "scale_up", "scale_down", "asleep", "shrinking_pool", "scale_up"]);
    const [first] = await workersOf(story);
    assertInOrder(text.split("\n"), [
      new RegExp(`Worker ${first} is rented on machine \\d+ for \\$0\\.45\\d* an hour: it is measured first\\.`),
      new RegExp(`Worker ${first} is ready \\d+ seconds after it was ordered to start and says that it serves`),
      /Worker \d+ is rented on machine \d+ .*: it serves most for its price\./,
      /Worker \d+ takes no more requests, to be stopped: /,
      /Worker \d+ is stopped: it has no request left\./,
      /Worker \d+ is destroyed: fewer stopped workers are enough\./,
      /Worker \d+ is started: /,
      /Worker \d+ is ready \d+ seconds after it was ordered to start/,
    ]);
  });

  test("deleted, they leave nothing; the bill is what ran, under its endpoint, and the books agree", async () => {
    assertAnswered(await loadOf(lying).stop());
    const all = [story, crashing, lying, silent, renewed];
    const workers = await Promise.all(all.map(workersOf));
    for (const endpoint of all) {
      const present = (await endpoint.workers()).map(({ id }) => id);
      const { deleted_workers, failed_workers } = await renter.done("DELETE", `/api/v0/endptjobs/${endpoint.id}/`);
      assert.deepEqual([new Set(deleted_workers), failed_workers], [new Set(present), []]);
    }
    const { berth } = market;
    await until("nothing is left of it", async () => {
      assert.deepEqual(await market.remains(), NO_REMAINS);
      for (const left of [
        "select instance_id from endpoint_workers",
        "select id from endpoint_groups",
        "select id from leases where released_at is null",
        "select id from ledger_holds where state = 'pending'",
      ]) {
        assert.deepEqual(await berth.sql(left), [], left);
      }
      return true;
    });
    const billed = await until("the last charges", () =>
      Promise.all(all.map((endpoint, index) => assertBill({ berth, renter }, endpoint.id, workers[index] ?? []))),
    );
    const [ofStory, ofCrashing, , ofSilent] = billed;
    assert.ok(ofStory !== undefined && ofCrashing !== undefined && ofSilent !== undefined && ofCrashing > 0n);
    assert.ok(ofCrashing < ofStory && ofCrashing < ofSilent, "crashing costs less than serving, or than being silent");
    const audit = await until("the audit", async () => {
      const { code, stdout, stderr } = await berth.cli("audit", "--full", "--json");
      assert.equal(code, 0, `${stdout}${stderr}`);
      return JSON.parse(stdout);
    });
    assert.equal(audit.is_sound, true);
    assert.deepEqual(await market.leave(), []);
  });
});

/** Checks that each request got 200, and none was served twice, by the count of the workers too. */
function assertAnswered(outcomes: readonly Outcome[], ...partly: readonly string[]): void {
  assert.ok(outcomes.length > 0);
  const wrong = outcomes.filter((outcome) => !("status" in outcome) || outcome.status !== 200);
  assert.deepEqual(wrong, []);
  assert.equal(new Set(outcomes.map(({ id }) => id)).size, outcomes.length);
  const { served, repeated } = countedBy(outcomes);
  assert.equal(repeated, 0);
  if (partly.length === 0) assert.equal(served, outcomes.length);
}

/** The number of workers that took requests, after each time that one began or ceased to. */
function countsTakingRequests(events: readonly EndpointEvent[]): readonly number[] {
  let count = 0;
  return events.flatMap(({ sentence }): readonly number[] => {
    if (/^Worker \d+ (is ready|takes requests again)/.test(sentence)) return [(count += 1)];
    if (/^Worker \d+ (takes no more requests|failed)/.test(sentence)) return [(count -= 1)];
    return [];
  });
}

/** Checks that the texts are found in this order; others may stand between them. */
function assertInOrder(found: readonly string[], wanted: readonly (string | RegExp)[]): void {
  let from = 0;
  for (const one of wanted) {
    const isIt = (text: string) => (typeof one === "string" ? text === one : one.test(text));
    const index = found.findIndex((text, place) => place >= from && isIt(text));
    assert.notEqual(index, -1, `${one} after line ${from} of\n${found.join("\n")}`);
    from = index + 1;
  }
}
