// The rows of rentals: new ones, requests that wait for an offer, and instances.
import { asId, type MachineId } from "../../server/src/base/ids.ts";
import type { TestCaller } from "../support/fixtures.ts";
import { aSigningRequest } from "../support/network/certificates.ts";
import { until } from "../support/until.ts";
import { ABSENT, at, onObject, plain, type Needs, type Row } from "./row.ts";
import { aVolume } from "./volume-endpoints.ts";
import { aListedMachine, anInstance, anOffer, type Target, type World } from "./world.ts";

const instanceId = async (world: World, user: TestCaller) => (await anInstance(world, user)).id;

/** A row on an instance that only the path names. */
const onInstance = (needs: Needs, path: (id: string | number) => string, body?: unknown): Row => ({
  ...onObject(needs, "id", instanceId, (id) => at(path(id), body)),
  isForInstanceKeys: true,
});

/**
 * The offer is public, and so is a template for a caller who has its hash: the contract lets the owner of a private
 * template share that. Only the volume can belong to somebody else.
 */
const createInstance: Row = {
  needs: "instance_write",
  call: async (world) => at(`/api/v0/asks/${await anOffer(world)}/`, { image: "alpine", disk: 10 }),
  aims: async (world) => {
    const aim = async (user: TestCaller, volumeId?: number) => {
      const { machine, volume } = await aVolume(world, user);
      const volumeInfo = { create_new: false, volume_id: volumeId ?? volume, mount_path: "/data" };
      const path = `/api/v0/asks/${await anOffer(world, machine)}/`;
      return at(path, { image: "alpine", disk: 10, volume_info: volumeInfo });
    };
    return {
      volume_id: {
        own: await aim(world.owner),
        foreign: await aim(world.stranger),
        absent: await aim(world.owner, ABSENT),
      },
    };
  },
};

/** A row for a rental whose offer is named elsewhere than in the path. */
function renting(target: (world: World, machine: MachineId, body: object) => Promise<Target>): Row {
  const body = { image: "alpine", disk: 10 };
  const aim = async (world: World, user: TestCaller, volumeId?: number) => {
    const { machine, volume } = await aVolume(world, user);
    const volumeInfo = { create_new: false, volume_id: volumeId ?? volume, mount_path: "/data" };
    return target(world, machine, { ...body, volume_info: volumeInfo });
  };
  return {
    needs: "instance_write",
    call: async (world) => target(world, await aListedMachine(world), body),
    aims: async (world) => ({
      volume_id: {
        own: await aim(world, world.owner),
        foreign: await aim(world, world.stranger),
        absent: await aim(world, world.owner, ABSENT),
      },
    }),
  };
}

const inBulk = async (world: World, machine: MachineId, body: object) =>
  at("/api/v0/asks/bulk/", { ...body, ids: [await anOffer(world, machine)] });

/** Waits until the search can find the machine. */
async function launched({ app }: World, machine: MachineId, body: object): Promise<Target> {
  await until("the offer to be found", () => app.offers.index.slotOf(machine) !== undefined);
  return at("/api/v0/launch_instance/", { ...body, q: { machine_id: { eq: machine } } });
}

/** A standing request for less than any host asks: it waits for ever. */
const waiting = async (_world: World, _machine: MachineId, body: object) =>
  at("/api/v0/standing_requests/", { ...body, q: {}, max_dph: 0.000_001 });

async function aStandingRequest(world: World, user: TestCaller): Promise<number> {
  const { path, body } = await waiting(world, asId<MachineId>(ABSENT), { image: "alpine" });
  return Number((await world.done("POST", at(path, body), user))["id"]);
}

/** An instance that can be prepaid: its host gives a discount, which not every host does. */
async function aPrepayableInstance(world: World, user: TestCaller): Promise<number> {
  const id = await instanceId(world, user);
  await world.database.pool.query("update machines set credit_discount_max_permille = 400");
  return id;
}

/** A row on the owner's instance that refuses the key inside the instance. */
const onInstanceOfOwner = (aim: (id: string | number) => Target): Row =>
  onObject("instance_write", "id", instanceId, aim);

/** The result of a host's task. Its owner may share the address, which needs no key. */
const readResult: Row = {
  needs: "public",
  call: async (world) => {
    const path = `/api/v0/instances/request_logs/${await instanceId(world, world.owner)}/`;
    const { result_url: url } = await world.done("PUT", at(path, {}), world.owner);
    await world.database.pool.query(
      `update agent_tasks set completed_at = now(), is_success = true, result = 'text'
       where created_at = (select max(created_at) from agent_tasks)`,
    );
    return at(new URL(String(url)).pathname);
  },
};

export const instanceEndpoints = {
  "PUT /api/v0/asks/{id}/": createInstance,
  "POST /api/v0/asks/{id}/": createInstance,
  "POST /api/v0/asks/bulk/": renting(inBulk),
  "PUT /api/v0/launch_instance/": renting(launched),
  "GET /api/v0/standing_requests/": plain("instance_read", "/api/v0/standing_requests/"),
  "POST /api/v0/standing_requests/": renting(waiting),
  "GET /api/v0/standing_requests/{id}/": onObject("instance_read", "id", aStandingRequest, (id) =>
    at(`/api/v0/standing_requests/${id}/`),
  ),
  "DELETE /api/v0/standing_requests/{id}/": onObject("instance_write", "id", aStandingRequest, (id) =>
    at(`/api/v0/standing_requests/${id}/`),
  ),

  "GET /api/v1/instances/": plain("instance_read", "/api/v1/instances/"),
  "GET /api/v0/instances/": plain("instance_read", "/api/v0/instances/"),
  "GET /api/v0/instances/count/": plain("instance_read", "/api/v0/instances/count/"),
  "GET /api/v1/counts/": plain("instance_read", "/api/v1/counts/"),
  "GET /api/v1/instances/lite/": { ...plain("instance_read", "/api/v1/instances/lite/"), answers: 404 as const },
  "GET /api/v0/instances/filters/": plain("instance_read", "/api/v0/instances/filters/"),
  "PUT /api/v0/instances/": onInstanceOfOwner((id) => at("/api/v0/instances/", { state: "stopped", ids: [id] })),
  "POST /api/v0/instances/start/": onInstanceOfOwner((id) => at("/api/v0/instances/start/", { IDs: [id] })),
  "DELETE /api/v0/instances/": onInstanceOfOwner((id) => at("/api/v0/instances/", { instance_ids: [id] })),
  "GET /api/v0/instances/{id}/": onInstance("instance_read", (id) => `/api/v0/instances/${id}/`),
  "PUT /api/v0/instances/{id}/": onInstance("instance_write", (id) => `/api/v0/instances/${id}/`, { state: "stopped" }),
  "DELETE /api/v0/instances/{id}/": onInstance("instance_write", (id) => `/api/v0/instances/${id}/`),
  "GET /api/v0/instances/{id}/events/": onObject("instance_read", "id", instanceId, (id) =>
    at(`/api/v0/instances/${id}/events/`),
  ),
  "GET /api/v0/instances/{id}/measurements/": onObject("instance_read", "id", instanceId, (id) =>
    at(`/api/v0/instances/${id}/measurements/?resolution=60`),
  ),
  "GET /api/v0/instances/measurements/latest/": plain("instance_read", "/api/v0/instances/measurements/latest/"),
  "PUT /api/v0/instances/reboot/{id}/": onInstance("instance_write", (id) => `/api/v0/instances/reboot/${id}/`),
  "PUT /api/v0/instances/prepay/{id}/": onObject("instance_write", "id", aPrepayableInstance, (id) =>
    at(`/api/v0/instances/prepay/${id}/`, { amount: 0.01 }),
  ),
  "GET /api/v0/instances/balance/{id}/": onObject("instance_read", "id", instanceId, (id) =>
    at(`/api/v0/instances/balance/${id}/`),
  ),

  "PUT /api/v0/instances/bid_price/{id}/": onObject(
    "instance_write",
    "id",
    async (world, user) => (await anInstance(world, user, { price: 1 })).id,
    (id) => at(`/api/v0/instances/bid_price/${id}/`, { client_id: "me", price: 2 }),
  ),

  "PUT /api/v0/instances/recycle/{id}/": onInstanceOfOwner((id) => at(`/api/v0/instances/recycle/${id}/`)),
  "PUT /api/v0/instances/update_template/{id}/": onInstanceOfOwner((id) =>
    at(`/api/v0/instances/update_template/${id}/`, { image: "debian" }),
  ),
  "POST /api/v0/instances/take_snapshot/{id}/": onInstanceOfOwner((id) =>
    at(`/api/v0/instances/take_snapshot/${id}/`, { personal_repo: "me/app" }),
  ),
  "PUT /api/v0/instances/command/{id}/": onInstanceOfOwner((id) =>
    at(`/api/v0/instances/command/${id}/`, { command: "ls" }),
  ),
  "PUT /api/v0/instances/request_logs/{id}/": {
    ...onInstanceOfOwner((id) => at(`/api/v0/instances/request_logs/${id}/`, {})),
    needs: "instance_read",
  },
} satisfies Readonly<Record<string, Row>>;

/** The hosts of these tests are not connected, so that every request that is let in ends there (files/files.test.ts, logs/log-routes.test.ts). */
const inside = (path: string, body?: unknown): Row => ({
  needs: "instance_write",
  call: async (world) => at(`/api/v0/instances/${await instanceId(world, world.owner)}/${path}`, body),
  answers: 409,
});

export const instanceFileEndpoints = {
  "GET /api/v0/instances/{id}/logs/": { ...inside("logs/?follow=false"), needs: "instance_read" },
  "GET /api/v0/instances/{id}/files/": inside("files/"),
  "POST /api/v0/instances/{id}/files/folders/": inside("files/folders/", { path: "/a" }),
  "DELETE /api/v0/instances/{id}/files/": inside("files/?path=/a"),
} satisfies Readonly<Record<string, Row>>;

export const hiddenInstanceEndpoints = {
  "GET /api/v0/instances/metrics/": plain("instance_read", "/api/v0/instances/metrics/"),
  "GET /api/v0/instances/{id}/terminal/": { ...inside("terminal/"), answers: 400 },
  "GET /api/v0/instances/{id}/files/content/": inside("files/content/?path=/a"),
  "PUT /api/v0/instances/{id}/files/content/": inside("files/content/?path=/a"),
  "POST /api/v0/sign_cert/": {
    needs: "public",
    call: async (world) =>
      at(`/api/v0/sign_cert/?instance_id=${await instanceId(world, world.owner)}`, aSigningRequest()),
  },
  "GET /api/v0/results/{token}/": readResult,
} satisfies Readonly<Record<string, Row>>;
