// Deeds of hosts: join, list at any price, lie in each counter and fact, vanish, come back, and start again.
import {
  dollars,
  drawPresent,
  HOSTS,
  machineOf,
  NOTHING,
  numberOf,
  outcomeOf,
  personOf,
  presentOf,
  someOf,
  textOf,
  type Picker,
  type DeedRules,
} from "./deeds.ts";
import { isFrozen, nanosIn, type Args, type Machine } from "./case.ts";
import type { CheatsWorld } from "./world.ts";

const GPU_PRICES = [0.3, 1, 3, 3, 20, 99];
/** Prices of traffic and storage up to the operator's ceilings; what is dearer is refused. */
const TRAFFIC_PRICES = [0, 0.01, 0.1, 0.15, 0.15];
const DISK_PRICES = [0.1, 0.1, 1];
const VOLUME_PRICES = [0.1, 1, 1];

function drawListing(pick: Picker, host: string): Args {
  return {
    host,
    gpu: pick.one(GPU_PRICES),
    traffic: pick.one(TRAFFIC_PRICES),
    disk: pick.one(DISK_PRICES),
    volume: pick.one(VOLUME_PRICES),
  };
}

function tellListing(args: Args): string {
  const { gpu, traffic, disk, volume } = args;
  return `${dollars(gpu)} an hour for a GPU, ${dollars(traffic)} for a GB of traffic, ${dollars(disk)} and ${dollars(volume)} for a GB of disk and of volume a month`;
}

async function list(world: CheatsWorld, machine: Machine, args: Args): Promise<string> {
  const { owner, host } = machine;
  const answer = await world.ask(owner.secret, "PUT", "/machines/create_asks/", {
    machine: host.machineId,
    price_gpu: numberOf(args, "gpu"),
    price_disk: numberOf(args, "disk"),
    price_inetu: numberOf(args, "traffic"),
    price_inetd: numberOf(args, "traffic"),
    price_min_bid: 0.01,
    min_chunk: 1,
    duration: "3 months",
    credit_discount_max: 0.4,
    vol_size: 400,
    vol_price: numberOf(args, "volume"),
  });
  if (answer.status === 200) {
    machine.listedGpu = nanosIn(numberOf(args, "gpu"));
    if (machine.cheapestGpu === 0n || machine.listedGpu < machine.cheapestGpu) machine.cheapestGpu = machine.listedGpu;
  }
  return outcomeOf(answer);
}

/** Connections of machines. */
const connections: DeedRules = {
  move: {
    weight: 2,
    draw: (play, pick) => {
      const found = drawPresent(play, pick);
      return found && { ...found, server: pick.one([1, 2]) };
    },
    tell: ({ host, server }) => `${host}'s agent goes to server ${server}, whose clock differs`,
    act: async (world, play, { args }) => {
      const machine = presentOf(play, args);
      const server = world.servers[numberOf(args, "server") - 1];
      if (machine === undefined || server === undefined) return NOTHING;
      await machine.host.disconnect();
      await machine.host.connectTo(server.origin);
      return "";
    },
  },
  leave: {
    weight: 1,
    draw: drawPresent,
    tell: ({ host }) => `${host}'s machine loses its line`,
    act: async (_world, play, { args }) => {
      const machine = presentOf(play, args);
      if (machine === undefined) return NOTHING;
      machine.host.isHonest = false;
      machine.host.isAway = true;
      await machine.host.disconnect();
      return "";
    },
  },
  comeBack: {
    weight: 3,
    draw: (play, pick) => {
      const host = someOf(
        pick,
        [...play.machines].filter(([, { host: one }]) => one.isAway).map(([name]) => name),
      );
      return host === undefined ? undefined : { host };
    },
    tell: ({ host }) => `${host}'s machine is back`,
    act: async (_world, play, { args }) => {
      const machine = machineOf(play, args);
      if (machine === undefined || !machine.host.isAway) return NOTHING;
      await machine.host.connect();
      machine.host.isAway = false;
      return "";
    },
  },
};

export const hostDeeds: DeedRules = {
  join: {
    weight: 1,
    draw: (play, pick) => {
      const host = someOf(
        pick,
        HOSTS.filter((name) => !play.machines.has(name)),
      );
      return host === undefined ? undefined : drawListing(pick, host);
    },
    tell: (args) => `${args["host"]} brings a machine with 2 GPUs in and lists it: ${tellListing(args)}`,
    act: async (world, play, { args }) => {
      const name = textOf(args, "host");
      const owner = await personOf(world, play, name);
      if (isFrozen(owner)) return NOTHING;
      const host = await world.machineOf(owner);
      const machine = { owner, host, listedGpu: 0n, cheapestGpu: 0n, networkDiskId: undefined };
      play.machines.set(name, machine);
      return list(world, machine, args);
    },
  },
  relist: {
    weight: 3,
    draw: (play, pick) => {
      const host = someOf(pick, [...play.machines.keys()]);
      return host === undefined ? undefined : drawListing(pick, host);
    },
    tell: (args) => `${args["host"]} lists the machine at other prices: ${tellListing(args)}`,
    act: async (world, play, { args }) => {
      const machine = machineOf(play, args);
      return machine === undefined ? NOTHING : list(world, machine, args);
    },
  },
  ...connections,
};
