import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import type { FakeHost } from "../../../../../test/support/hosts/fake-host.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { refreshOffersOf } from "../../../../../test/support/hosts/refresh-offers.ts";
import {
  aFleet,
  anAutoscaler,
  decideNow,
  identityOf,
  orders,
  sayStatus,
  sentencesOf,
  workersOf,
  type Fleet,
} from "../../../../../test/support/serverless/workers.ts";
import type { Database } from "../../../db/connect.ts";
import { searchOffers } from "../../supply/market/for-assembly.ts";
import { decide } from "./rules/decide.ts";
import type { Action, Decision, Situation } from "./rules/types.ts";
import type { Autoscaler } from "./autoscale-service.ts";

const secret = randomBytes(32);

type Step =
  | { readonly kind: "decide" | "obey" | "report" | "finish" | "fault" | "reprice" | "forget" }
  | { readonly kind: "wait"; readonly seconds: number }
  | { readonly kind: "traffic"; readonly load: number }
  | { readonly kind: "fail"; readonly nth: number }
  | { readonly kind: "limit"; readonly maxWorkers: number }
  | { readonly kind: "state"; readonly state: string };

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Step>({ kind: "decide" }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("wait" as const), seconds: fc.integer({ min: 1, max: 25 }) }) },
  { weight: 3, arbitrary: fc.constantFrom<Step>({ kind: "obey" }, { kind: "finish" }) },
  { weight: 4, arbitrary: fc.constant<Step>({ kind: "report" }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("traffic" as const), load: fc.integer({ min: 0, max: 400 }) }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ kind: "fault" }, { kind: "reprice" }, { kind: "forget" }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("fail" as const), nth: fc.nat(3) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("limit" as const), maxWorkers: fc.integer({ min: 1, max: 5 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("state" as const),
      state: fc.constantFrom("active", "active", "suspended", "stopped"),
    }),
  },
);

/** A trigger that refuses a worker beyond the endpoint's limit in the very statement that adds it. */
const GUARD = `
  create function refuse_too_many() returns trigger language plpgsql as $$
  begin
    if (select count(*) from endpoint_workers w where w.endpoint_group_id = new.endpoint_group_id)
      > (select max_workers from endpoint_groups where id = new.endpoint_group_id)
    then raise 'more workers than max_workers'; end if;
    return null;
  end $$;
  create constraint trigger refuse_too_many after insert on endpoint_workers
    deferrable initially deferred for each row execute function refuse_too_many();
`;

class Crash extends Error {}

/**
 * Gives any order to any worker at any time: the orders that are carried out must be right even if the rules are
 * wrong.
 */
function mischief({ workers, offers, nowMs }: Situation): Decision {
  const kinds = ["stop", "destroy", "update", "start"] as const;
  const drains = ["stop", "destroy", "update"] as const;
  const actions = workers.flatMap(({ id: workerId, draining }): Action[] => {
    const draw = (Math.floor(nowMs / 1000) * 31 + workerId * 17) % 12;
    const about = { workerId, why: "mischief" };
    if (draining !== undefined && draw < 7) return [{ kind: draining.to, ...about }];
    const [kind, to] = [kinds[draw - 3], drains[draw - 7]];
    if (draw < 2) return [];
    if (draw === 2 || draw > 9) return [{ kind: "undrain", ...about }];
    return to === undefined ? [{ kind: kind ?? "start", ...about }] : [{ kind: "drain", to, ...about }];
  });
  const rents = offers
    .slice(0, 4)
    .map(({ groupId, offerId, machineId }): Action => ({ kind: "rent", groupId, offerId, machineId, why: "mischief" }));
  return orders(...actions, ...rents);
}

/** One endpoint under two servers; the test plays the processes of its workers. */
class Play {
  readonly busy = new Map<number, { readonly count: number; readonly run: number }>();
  readonly #readyRuns = new Set<string>();
  readonly #failed = new Set<number>();
  #isFaulty = false;
  #servers: readonly Autoscaler[] = [];
  readonly #world: TestApp;
  readonly #hosts: readonly FakeHost[];
  readonly #owner: TestCaller;
  readonly fleet: Fleet;
  readonly #rules: (situation: Situation) => Decision;

  constructor(
    {
      world,
      hosts,
      owner,
    }: { readonly world: TestApp; readonly hosts: readonly FakeHost[]; readonly owner: TestCaller },
    fleet: Fleet,
    rules: (situation: Situation) => Decision,
  ) {
    [this.#world, this.#hosts, this.#owner, this.fleet, this.#rules] = [world, hosts, owner, fleet, rules];
    this.restart();
  }

  /** Replaces both servers by new ones with empty memory. */
  restart(): void {
    this.#servers = [0, 1].map(() =>
      anAutoscaler(this.#world, {
        secret,
        decide: this.#rules,
        database: this.#crashingDatabase(),
        tellUpdate: async () => {
          if (this.#trips()) throw new Crash("while a worker is told");
        },
        search: (query) => {
          if (this.#trips()) throw new Crash("while offers are looked for");
          return searchOffers(this.#world.app.offers.index, query, {
            now: this.#world.clock.now(),
            rentedMachines: new Set(),
          });
        },
      }),
    );
  }

  async run(step: Step): Promise<void> {
    switch (step.kind) {
      case "decide":
        await this.decide();
        break;
      case "wait":
        this.#world.clock.jump(step.seconds * 1000);
        break;
      case "obey":
        for (const host of this.#hosts) await host.obey();
        break;
      case "report":
        await this.#report();
        break;
      case "finish":
        this.busy.clear();
        break;
      case "traffic":
        await this.#ask(step.load);
        break;
      case "fault":
        this.#isFaulty = true;
        break;
      case "forget":
        this.restart();
        break;
      case "reprice":
        // Searches do not know the new price yet: the offers that they find are refused.
        await this.#world.env.pool.query(
          "update machines set price_device_nanos_per_hour = price_device_nanos_per_hour + 1000000",
        );
        break;
      case "fail":
        await this.#fail(step.nth);
        break;
      case "limit":
        await this.#change({ max_workers: step.maxWorkers });
        break;
      case "state":
        await this.#change({ endpoint_state: step.state });
        break;
    }
  }

  async decide(): Promise<void> {
    const runs = await Promise.allSettled(this.#servers.map((server) => decideNow(server, this.fleet)));
    for (const run of runs) {
      if (run.status === "rejected" && !(run.reason instanceof Crash)) throw run.reason;
    }
    const workers = new Map((await workersOf(this.#world, this.fleet)).map((one) => [Number(one.instance_id), one]));
    for (const [id, { count, run }] of this.busy) {
      const worker = workers.get(id);
      if (worker !== undefined && worker.failure !== "") this.#failed.add(id);
      const isAtWork = worker?.desired === "running" && worker.run === run;
      assert.ok(isAtWork || this.#failed.has(id), `worker ${id} lost ${count} requests`);
    }
  }

  /** Checks that every worker and instance that was ever made is gone, and paid for. */
  async end(): Promise<void> {
    this.#isFaulty = false;
    const { endpointId } = this.fleet;
    const answer = await this.#world.call({
      method: "DELETE",
      url: `/api/v0/endptjobs/${endpointId}/`,
      secret: this.#owner.secret,
      body: {},
    });
    assert.equal(answer.status, 200, answer.text);
    for (const host of this.#hosts) await host.obey();
    const { rows } = await this.#world.env.pool.query(
      `select 'worker' as what, instance_id as id from endpoint_workers where endpoint_group_id = $1
       union all select 'endpoint', id from endpoint_groups where id = $1
       union all select 'group', id from worker_groups where endpoint_group_id = $1
       union all select 'instance', id from instances where user_id = $2 and phase <> 'ended'`,
      [endpointId, this.#owner.id],
    );
    assert.deepEqual(rows, []);
  }

  /** Crashes between the order to destroy a worker's instance and the end of the worker's own row. */
  #crashingDatabase(): Database {
    const { database } = this.#world.env;
    const kysely = database.kysely.withPlugin({
      transformQuery: ({ node }) => {
        const isEnd = node.kind === "DeleteQueryNode" && JSON.stringify(node.from).includes('"endpoint_workers"');
        if (isEnd && this.#trips()) throw new Crash("after the order to destroy");
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    return { ...database, kysely };
  }

  #trips(): boolean {
    const isFaulty = this.#isFaulty;
    this.#isFaulty = false;
    return isFaulty;
  }

  async #report(): Promise<void> {
    for (const worker of await workersOf(this.#world, this.fleet)) {
      const { instance_id: id } = worker;
      const host = this.#hostOf(id);
      const seen = host?.obedience().find((one) => one.instance_id === id && one.state === "running");
      if (host === undefined || seen === undefined) continue;
      const run = `${id} ${seen.generation}`;
      const count = this.busy.get(id)?.count ?? 0;
      const port = Object.values(seen.ports ?? {})[0];
      const answer = await sayStatus(this.#world, host, id, {
        url: identityOf(host, id, port).url,
        loadtime: this.#readyRuns.has(run) ? 0 : 1,
        cur_load: count * 10,
        num_requests_working: count,
      });
      // The worker's host may not have reported yet that it runs.
      if (answer.status === 200) this.#readyRuns.add(run);
      else assert.ok([401, 503, 400].includes(answer.status), answer.text);
    }
  }

  /** Sends requests to workers that are routed to, as a router in another process would know them. */
  async #ask(load: number): Promise<void> {
    const { clock, env } = this.#world;
    await env.pool.query(
      `insert into endpoint_load (endpoint_group_id, second_at, request_count, load)
       values ($1, date_trunc('second', $2::timestamptz), 1, $3) on conflict do nothing`,
      [this.fleet.endpointId, clock.now(), load],
    );
    for (const worker of await workersOf(this.#world, this.fleet)) {
      const isOpen = worker.is_ready && worker.draining_to === null && worker.desired === "running";
      if (!isOpen || worker.failure !== "") continue;
      const { instance_id: id, run } = worker;
      this.busy.set(id, { count: 1 + (this.busy.get(id)?.count ?? 0), run });
    }
    await this.#report();
  }

  async #fail(nth: number): Promise<void> {
    const workers = await workersOf(this.#world, this.fleet);
    const id = workers[nth % Math.max(1, workers.length)]?.instance_id;
    const host = id === undefined ? undefined : this.#hostOf(id);
    if (id === undefined || host === undefined) return;
    this.busy.delete(id);
    this.#failed.add(id);
    await sayStatus(this.#world, host, id, { error_msg: "out of memory" });
  }

  async #change(body: Readonly<Record<string, unknown>>): Promise<void> {
    const { endpointId } = this.fleet;
    const { secret: key } = this.#owner;
    await this.#world.call({ method: "PUT", url: `/api/v0/endptjobs/${endpointId}/`, secret: key, body });
  }

  #hostOf(id: number): FakeHost | undefined {
    return this.#hosts.find((host) => host.order(id) !== undefined);
  }
}

test("under any orders and crashes an endpoint never has too many workers, stops none at work, and leaves nothing behind", async (t) => {
  const world = await testApp(t, { secret });
  await world.env.pool.query(GUARD);
  const hosts = [await world.host({ gpus: 2 }), await world.host({ gpus: 2 }), await world.host({ gpus: 1 })];
  await fc.assert(
    fc.asyncProperty(
      fc.array(steps, { minLength: 60, maxLength: 120 }),
      fc.constantFrom(0, 0.9, 100, 100),
      fc.constantFrom(decide, mischief, mischief),
      async (played, dollars, rules) => {
        const owner = await world.caller({ dollars });
        const endpoint = { max_workers: 3, cold_workers: 1, min_load: 10, cold_mult: 2 };
        const fleet = await aFleet(world, owner, { endpoint, group: { test_workers: 1, cold_workers: 1 } });
        const play = new Play({ world, hosts, owner }, fleet, rules);
        try {
          for (const step of played) await play.run(step);
        } catch (error) {
          throw new Error((await sentencesOf(world, fleet)).join("\n"), { cause: error });
        }
        await play.end();
        await world.env.pool.query("update machines set price_device_nanos_per_hour = 300000000");
        await refreshOffersOf(
          world,
          hosts.map(({ machineId }) => machineId),
        );
        await world.settled();
      },
    ),
    { numRuns: 15, endOnFailure: true },
  );
});

test("workers that crash one after the other are rented as often as the back-off allows, and no more", async (t) => {
  const world = await testApp(t, { secret });
  const owner = await world.caller();
  const host = await world.host({ gpus: 1 });
  const fleet = await aFleet(world, owner, { endpoint: { max_workers: 1, cold_workers: 1, min_load: 1 } });
  const autoscaler = anAutoscaler(world, { secret, decide });
  const rentedAtMs: number[] = [];
  for (let second = 0; second < 1_300; second += 1) {
    await decideNow(autoscaler, fleet);
    const [worker] = await workersOf(world, fleet);
    if (worker !== undefined && worker.failure === "") {
      rentedAtMs.push(world.clock.now().getTime());
      await host.obey();
      await sayStatus(world, host, worker.instance_id, { error_msg: "segmentation fault" });
      await decideNow(autoscaler, fleet);
      await host.obey();
      // The fleet has one machine: the test looks at the group's own back-off, so the machine must not be avoided.
      await world.env.pool.query("delete from worker_group_avoidances");
    }
    world.clock.jump(1_000);
    await world.settled();
  }
  const gaps = rentedAtMs.slice(1).map((ms, index) => Math.round((ms - (rentedAtMs[index] ?? 0)) / 1000));
  assert.equal(gaps.length, 7);
  gaps.forEach((gap, index) => {
    const allowed = 10 * 2 ** index;
    assert.ok(gap >= allowed && gap <= allowed + 15, `${gap} s before rent ${index + 2}: ${gaps.join(", ")}`);
  });
});
