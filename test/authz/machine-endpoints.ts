// The rows of the hosts' side of machines.
import type { MachineId } from "../../server/src/base/ids.ts";
import type { TestCaller } from "../support/fixtures.ts";
import { ABSENT, at, onObject, onUser, plain, type Needs, type Row } from "./row.ts";
import { aListedMachine, anOffer, type Target, type World } from "./world.ts";

/** A call on a machine that its host has listed. */
const onMachine = (needs: Needs, aim: (id: string | number) => Target): Row =>
  onObject(needs, "id", (world, user) => aListedMachine(world, user), aim);

async function aMachineWithJob(world: World, host: TestCaller): Promise<MachineId> {
  const machine = await aListedMachine(world, host);
  await world.done("PUT", at("/api/v0/machines/create_bids/", { machine, image: "alpine" }), host);
  return machine;
}

/** An announced maintenance of a machine of this host. */
async function aMaintenance(world: World, host: TestCaller): Promise<number> {
  const machine = await aListedMachine(world, host);
  const body = { machine_ids: [machine], sdate: Date.now() / 1000 + 3600 };
  const { results } = await world.done("POST", at("/api/v0/machines/maintenances/batch/", body), host);
  return (results as readonly { readonly maintenance_id: number }[])[0]!.maintenance_id;
}

/** A machine of somebody else on which this user rents. */
async function aRentedMachine(world: World, user: TestCaller): Promise<MachineId> {
  const machine = await aListedMachine(world);
  const path = `/api/v0/asks/${await anOffer(world, machine)}/`;
  await world.done("PUT", at(path, { image: "alpine", disk: 10 }), user);
  return machine;
}

const aReport = (id: number): Target =>
  at(`/api/v0/machines/${id}/report/`, { problem: "slow disk", message: "It writes 10 MB/s." });

async function aFlag(world: World): Promise<number> {
  const { rows } = await world.database.pool.query<{ id: number }>(
    `insert into host_flags (host_id, kind, detail, facts, since_at, last_at)
     select $1, 'slow_line', 'slower than declared', '{}', now(), now()
     where not exists (select from host_flags where host_id = $1 and cleared_at is null)
     returning id`,
    [world.stranger.id],
  );
  const { rows: open } = await world.database.pool.query<{ id: number }>(
    "select id from host_flags where host_id = $1 and cleared_at is null",
    [world.stranger.id],
  );
  return rows[0]?.id ?? open[0]?.id ?? 0;
}

export const machineEndpoints = {
  "GET /api/v0/hosts/flags/": plain("machine_read", "/api/v0/hosts/flags/?open=true"),
  "GET /api/v0/admin/flags/": plain("admin", "/api/v0/admin/flags/"),
  "PUT /api/v0/admin/flags/{id}/clear/": {
    needs: "admin",
    call: async (world) => at(`/api/v0/admin/flags/${await aFlag(world)}/clear/`, { reason: "a mistake" }),
  },
  "GET /api/v0/machines/": plain("machine_read", "/api/v0/machines/"),
  "GET /api/v0/machines/{id}/": onMachine("machine_read", (id) => at(`/api/v0/machines/${id}/`)),
  "GET /api/v0/machines/{id}/calendar/": onMachine("machine_read", (id) => at(`/api/v0/machines/${id}/calendar/`)),
  "GET /api/v0/machines/{id}/price-hint/": onMachine("machine_read", (id) => at(`/api/v0/machines/${id}/price-hint/`)),
  "GET /api/v0/machines/{id}/measurements/": onMachine("machine_read", (id) =>
    at(`/api/v0/machines/${id}/measurements/`),
  ),
  "GET /api/v0/machines/errors/": plain("machine_read", "/api/v0/machines/errors/"),
  "GET /api/v0/machines/errors/count/": plain("machine_read", "/api/v0/machines/errors/count/"),
  "PUT /api/v0/machines/create_asks/": onMachine("machine_write", (machine) =>
    at("/api/v0/machines/create_asks/", { machine, price_gpu: 0.4, end_date: 4_000_000_000 }),
  ),
  "DELETE /api/v0/machines/{id}/asks/": onMachine("machine_write", (id) => at(`/api/v0/machines/${id}/asks/`)),
  "PUT /api/v0/machines/{id}/minbid/": onMachine("machine_write", (id) =>
    at(`/api/v0/machines/${id}/minbid/`, { client_id: "me", price: 0.001 }),
  ),
  "PUT /api/v0/machines/defrag_offers/": onMachine("machine_write", (id) =>
    at("/api/v0/machines/defrag_offers/", { machine_ids: [id] }),
  ),
  "PUT /api/v0/machines/create_bids/": onMachine("machine_write", (machine) =>
    at("/api/v0/machines/create_bids/", { machine, price_gpu: 0.1, image: "alpine", args: ["sleep", "60"] }),
  ),
  "DELETE /api/v0/machines/{id}/defjob/": onObject("machine_write", "id", aMachineWithJob, (id) =>
    at(`/api/v0/machines/${id}/defjob/`),
  ),
  "GET /api/v0/machines/maintenances/": plain("instance_read", "/api/v0/machines/maintenances/?machine_ids=[1]"),
  "GET /api/v1/machines/": plain("machine_read", "/api/v1/machines/?limit=5"),
  "POST /api/v0/machines/maintenances/": plain("instance_read", "/api/v0/machines/maintenances/", { machine_ids: [1] }),
  "DELETE /api/v0/machines/maintenances/": onObject("machine_write", "maintenance_id", aMaintenance, (id) =>
    at("/api/v0/machines/maintenances/", { maintenance_id: id }),
  ),
  "POST /api/v0/machines/maintenances/batch/": onMachine("machine_write", (id) =>
    at("/api/v0/machines/maintenances/batch/", { machine_ids: [id], sdate: Date.now() / 1000 + 3600, duration: 2 }),
  ),
  "DELETE /api/v0/machines/maintenances/batch/": onObject("machine_write", "maintenance_ids", aMaintenance, (id) =>
    at("/api/v0/machines/maintenances/batch/", { maintenance_ids: [id] }),
  ),
  "PUT /api/v0/machines/{id}/dnotify/": onMachine("machine_write", (id) =>
    at(`/api/v0/machines/${id}/dnotify/`, { sdate: Date.now() / 1000 + 3600, duration: 2 }),
  ),
  "PUT /api/v0/machines/{id}/cancel_maint/": onMachine("machine_write", (id) =>
    at(`/api/v0/machines/${id}/cancel_maint/`, { client_id: "me", machine_id: id }),
  ),
  "PUT /api/v0/machines/{id}/cleanup/": onMachine("machine_write", (id) => at(`/api/v0/machines/${id}/cleanup/`, {})),
  "POST /api/v0/machines/{id}/force_delete/": onMachine("machine_write", (id) =>
    at(`/api/v0/machines/${id}/force_delete/`),
  ),
  "GET /api/v0/machines/{id}/reports/": onMachine("machine_read", (id) => at(`/api/v0/machines/${id}/reports/`)),
  "PUT /api/v0/machines/{id}/report/": {
    needs: "instance_write",
    call: async (world) => aReport(await aRentedMachine(world, world.owner)),
    aims: async (world) => ({
      // Rented by somebody else only.
      id: {
        own: aReport(await aRentedMachine(world, world.owner)),
        foreign: aReport(await aListedMachine(world)),
        absent: aReport(ABSENT),
      },
    }),
  },
  "GET /api/v0/user/earnings/": plain("billing_read", "/api/v0/user/earnings/"),
  "GET /api/v0/user/earnings/data/": plain("billing_read", "/api/v0/user/earnings/data/?last_days=7"),
  "GET /api/v1/user/earnings/": plain("billing_read", "/api/v1/user/earnings/?group_by=machine"),
  "GET /api/v1/user/earnings/summary/": plain("billing_read", "/api/v1/user/earnings/summary/"),
  "GET /api/v1/user/earnings/chart/": plain("billing_read", "/api/v1/user/earnings/chart/"),
  "GET /api/v0/users/{user_id}/machine-earnings/": onUser(
    "billing_read",
    (id) => `/api/v0/users/${id}/machine-earnings/`,
  ),
} satisfies Readonly<Record<string, Row>>;
