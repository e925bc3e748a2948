import assert from "node:assert/strict";
import { asId, type EndpointGroupId, type InstanceId, type WorkerGroupId } from "../../../server/src/base/ids.ts";
import { instanceKeyMaker, workerTokenOf } from "../../../server/src/domains/rental/instances/for-assembly.ts";
import { OrderDesk } from "../../../server/src/domains/rental/instances/index.ts";
import { searchOffers } from "../../../server/src/domains/supply/market/for-assembly.ts";
import {
  Autoscaler,
  type AutoscalerPorts,
} from "../../../server/src/domains/serverless/autoscaling/autoscale-service.ts";
import type { Action, Decision, Situation } from "../../../server/src/domains/serverless/autoscaling/rules/types.ts";
import type { TestApp } from "../app.ts";
import type { FakeHost } from "../hosts/fake-host.ts";
import type { TestCaller } from "../fixtures.ts";

const NO_TARGETS = {
  anticipatedLoad: 0,
  hotTarget: 0,
  totalTarget: 0,
  hotPerf: 0,
  totalPerf: 0,
  hotCount: 0,
  totalCount: 0,
  queuedCount: 0,
} as const;

/** A decision with these actions, and with a meaningless sentence. */
export function orders(...actions: readonly Action[]): Decision {
  return { targets: NO_TARGETS, actions, sentence: "A test says so.", reason: actions.length === 0 ? "calm" : "busy" };
}

/** A rule that rents the first offers of the situation, up to this many workers in all. */
export function rentUpTo(count: number): (situation: Situation) => Decision {
  return ({ workers, offers }) => {
    const taken = new Set(workers.map(({ machineId }) => machineId));
    const free = offers.filter(({ machineId }) => !taken.has(machineId));
    return orders(
      ...free.slice(0, Math.max(0, count - workers.length)).map(({ groupId, offerId, machineId }): Action => ({
        ...{ kind: "rent", groupId, offerId, machineId, why: "a test wants it" },
      })),
    );
  };
}

/** An autoscaler as another server would have it, with rules of the test's own. */
export function anAutoscaler(
  { env: { database }, app, clock, encryption }: TestApp,
  { secret, ...given }: { readonly secret: Buffer } & Partial<AutoscalerPorts> & Pick<AutoscalerPorts, "decide">,
): Autoscaler {
  const keyOf = instanceKeyMaker(secret);
  return new Autoscaler({
    database,
    clock,
    encryption,
    desk: new OrderDesk(database, clock, { secret, encryption }),
    search: (query) => searchOffers(app.offers.index, query, { now: clock.now(), rentedMachines: new Set() }),
    routers: app.routers,
    tokenOf: (id) => workerTokenOf(keyOf(id).secret),
    reportAddress: undefined,
    tellUpdate: async () => {},
    ...given,
  });
}

export type Fleet = { readonly endpointId: EndpointGroupId; readonly groupId: WorkerGroupId };

/** An endpoint that keeps no workers by itself, with one worker group of a bare image. */
export async function aFleet(
  world: TestApp,
  user: TestCaller,
  {
    endpoint = {},
    group = {},
  }: { readonly endpoint?: Readonly<Record<string, unknown>>; readonly group?: Readonly<Record<string, unknown>> } = {},
): Promise<Fleet> {
  const { secret } = user;
  const made = await world.call({
    method: "POST",
    url: "/api/v0/endptjobs/",
    secret,
    body: { min_load: 0, cold_workers: 0, max_workers: 3, ...endpoint },
  });
  assert.equal(made.status, 200, made.text);
  const endpointId = asId<EndpointGroupId>(Number(made.body.result));
  const grouped = await world.call({
    method: "POST",
    url: "/api/v0/workergroups/",
    secret,
    body: { endpoint_id: endpointId, launch_args: "--image busybox --disk 10", search_params: "num_gpus=1", ...group },
  });
  assert.equal(grouped.status, 200, grouped.text);
  return { endpointId, groupId: asId<WorkerGroupId>(Number(grouped.body.id)) };
}

/** Looks at the endpoint now, in full. */
export async function decideNow(autoscaler: Autoscaler, { endpointId }: Fleet) {
  autoscaler.note(endpointId);
  return autoscaler.run();
}

export type StoredWorker = {
  readonly instance_id: InstanceId;
  readonly state: string;
  readonly url: string;
  readonly generation: number;
  readonly failure: string;
  readonly is_ready: boolean;
  readonly draining_to: string | null;
  readonly phase: string;
  readonly desired: string;
  /** The instance's generation, which differs for each process. */
  readonly run: number;
};

export async function workersOf({ env }: TestApp, { endpointId }: Fleet): Promise<readonly StoredWorker[]> {
  const { rows } = await env.pool.query<StoredWorker>(
    `select w.instance_id, w.state, w.url, w.generation, w.failure, w.ready_at is not null as is_ready, w.draining_to,
       i.phase, i.desired, i.generation as run
     from endpoint_workers w join instances i on i.id = w.instance_id
     where w.endpoint_group_id = $1 order by w.instance_id`,
    [endpointId],
  );
  return rows;
}

/** The sentences of the endpoint's events, oldest first. */
export async function sentencesOf({ env }: TestApp, { endpointId }: Fleet): Promise<readonly string[]> {
  const { rows } = await env.pool.query<{ sentence: string }>(
    "select sentence from endpoint_events where endpoint_group_id = $1 order by id",
    [endpointId],
  );
  return rows.map((row) => row.sentence);
}

/** The token and the address that a worker's container has. */
export function identityOf(host: FakeHost, id: number, port = 40_000) {
  const env = new Map(host.order(id)?.env.map(([name, value]) => [name, value]));
  return { id, mtoken: env.get("MASTER_TOKEN") ?? "", url: `http://${ADDRESS}:${port}`, version: "0.2.1" };
}

/** The address of the machines of tests. */
const ADDRESS = "192.0.2.1";

/** Sends a worker process's status as the published worker sends it; the given members override the usual ones. */
export function sayStatus(world: TestApp, host: FakeHost, id: number, said: Readonly<Record<string, unknown>> = {}) {
  const body = {
    ...identityOf(host, id),
    loadtime: 0,
    cur_load: 0,
    new_load: 0,
    rej_load: 0,
    cur_perf: 0,
    max_perf: 100,
    cur_capacity: 0,
    max_capacity: 0,
    num_requests_working: 0,
    num_requests_recieved: 0,
    working_request_idxs: [],
    additional_disk_usage: 0,
    error_msg: "",
    ...said,
  };
  return world.call({ method: "POST", url: "/worker_status/", body });
}

/** Lets the host bring its workers up, and each say that it is ready. */
export async function bringUp(world: TestApp, host: FakeHost, ids: readonly number[]): Promise<void> {
  await host.obey();
  for (const id of ids) {
    const answer = await sayStatus(world, host, id, { loadtime: 12.5 });
    assert.equal(answer.status, 200, answer.text);
  }
}
