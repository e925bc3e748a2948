// The rows of volumes, of the listings that they are rented from, and of network disks.
import type { MachineId } from "../../server/src/base/ids.ts";
import type { TestCaller } from "../support/fixtures.ts";
import { ABSENT, at, onObject, plain, type Row } from "./row.ts";
import { aListedMachine, type World } from "./world.ts";

const aDisk = async (world: World, user: TestCaller) =>
  Number(
    (await world.done("POST", at("/api/v0/admin/disks/", { email: user.email, size: 1000 }), world.admin))["disk_id"],
  );

async function aNetworkListing(world: World, user: TestCaller): Promise<number> {
  const disk = await aDisk(world, user);
  const body = { disk_id: disk, price_disk: 0.1, size: 500, end_date: 4_000_000_000 };
  const { msg } = await world.done("POST", at("/api/v0/network_volume/", body), user);
  return idIn(msg);
}

async function aLocalListing(world: World, host: TestCaller): Promise<{ machine: MachineId; listing: number }> {
  const machine = await aListedMachine(world, host);
  const body = { machine, size: 100, price_disk: 0.1, end_date: 4_000_000_000 };
  const { msg } = await world.done("POST", at("/api/v0/volumes/", body), host);
  return { machine, listing: idIn(msg) };
}

export async function aVolume(world: World, user: TestCaller): Promise<{ machine: MachineId; volume: number }> {
  const { machine, listing } = await aLocalListing(world, world.stranger);
  const { id } = await world.done("PUT", at("/api/v0/volumes/", { id: listing, size: 5 }), user);
  return { machine, volume: Number(id) };
}

/** A wish to clone a volume of the user onto another machine. */
async function aClone(world: World, user: TestCaller): Promise<{ src_id: number; dst_id: number }> {
  const { volume } = await aVolume(world, user);
  return { src_id: volume, dst_id: (await aLocalListing(world, world.stranger)).listing };
}

/** The first number of a sentence such as "Listed Volume 7." */
export function idIn(sentence: unknown): number {
  return Number(/\d+/.exec(String(sentence))?.[0]);
}

const listNetworkVolume = (path: string): Row =>
  onObject("machine_write", "disk_id", aDisk, (id) =>
    at(path, { disk_id: id, price_disk: 0.1, size: 100, end_date: 4_000_000_000 }),
  );

export const volumeEndpoints = {
  "GET /api/v0/volumes/": plain("instance_read", "/api/v0/volumes/"),
  "PUT /api/v0/volumes/": {
    needs: "instance_write",
    call: async (world) =>
      at("/api/v0/volumes/", { id: (await aLocalListing(world, world.stranger)).listing, size: 5 }),
  },
  "DELETE /api/v0/volumes/": onObject(
    "instance_write",
    "id",
    async (world, user) => (await aVolume(world, user)).volume,
    (id) => at("/api/v0/volumes/", { id }),
  ),
  "POST /api/v0/volumes/copy/": {
    needs: "instance_write",
    call: async (world) => at("/api/v0/volumes/copy/", await aClone(world, world.owner)),
    aims: async (world) => {
      const wish = await aClone(world, world.owner);
      const others = (await aVolume(world, world.stranger)).volume;
      const aim = (src_id: number) => at("/api/v0/volumes/copy/", { ...wish, src_id });
      return { src_id: { own: aim(wish.src_id), foreign: aim(others), absent: aim(Number(ABSENT)) } };
    },
  },
  "POST /api/v0/volumes/": onObject("machine_write", "machine", aListedMachine, (machine) =>
    at("/api/v0/volumes/", { machine, size: 100, price_disk: 0.1, end_date: 4_000_000_000 }),
  ),
  "POST /api/v0/volumes/search/": plain("misc", "/api/v0/volumes/search/", {}),
  "POST /api/v0/volumes/unlist/": onObject(
    "machine_write",
    "id",
    async (world, user) => (await aLocalListing(world, user)).listing,
    (id) => at("/api/v0/volumes/unlist/", { id }),
  ),

  "POST /api/v0/network_volume/": listNetworkVolume("/api/v0/network_volume/"),
  "POST /api/v0/network_volumes/": listNetworkVolume("/api/v0/network_volumes/"),
  "PUT /api/v0/network_volumes/": {
    needs: "instance_write",
    call: async (world) =>
      at("/api/v0/network_volumes/", { id: await aNetworkListing(world, world.stranger), size: 5 }),
  },
  "GET /api/v0/network_disk/": plain("machine_read", "/api/v0/network_disk/"),
  "POST /api/v0/network_disk/": {
    needs: "machine_write",
    call: async (world) =>
      at("/api/v0/network_disk/", {
        machines: [await aListedMachine(world, world.owner)],
        mount_point: "/mnt/a",
        size: 10,
      }),
    aims: async (world) => {
      const machine = (user: TestCaller) => aListedMachine(world, user);
      const mount = (id: number, diskId?: number) =>
        at("/api/v0/network_disk/", {
          machines: [id],
          mount_point: "/mnt/a",
          ...(diskId === undefined ? { size: 10 } : { disk_id: diskId }),
        });
      return {
        machines: {
          own: mount(await machine(world.owner)),
          foreign: mount(await machine(world.stranger)),
          absent: mount(ABSENT),
        },
        disk_id: {
          own: mount(await machine(world.owner), await aDisk(world, world.owner)),
          foreign: mount(await machine(world.owner), await aDisk(world, world.stranger)),
          absent: mount(await machine(world.owner), ABSENT),
        },
      };
    },
  },
  "POST /api/v0/network_volumes/search/": plain("misc", "/api/v0/network_volumes/search/", {}),
  "POST /api/v0/network_volumes/unlist/": onObject("machine_write", "id", aNetworkListing, (id) =>
    at("/api/v0/network_volumes/unlist/", { id }),
  ),
} satisfies Readonly<Record<string, Row>>;
