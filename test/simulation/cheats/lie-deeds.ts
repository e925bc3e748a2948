// False reports of a host about its machine and its containers.
import {
  drawPresent,
  drawRental,
  machineOf,
  NOTHING,
  numberOf,
  presentOf,
  rentalOf,
  someOf,
  type DeedRules,
} from "./deeds.ts";

const MINUTE_MS = 60_000;

export const lieDeeds: DeedRules = {
  inventTraffic: {
    weight: 3,
    draw: (play, pick) => {
      const found = drawRental(play, pick);
      return found && { ...found, gigabytes: pick.one([1, 10, 1000]) };
    },
    tell: ({ rental, gigabytes }) =>
      `The host of ${rental} reports ${gigabytes} GB of traffic each way that nobody sent`,
    act: async (_world, play, { args }) => {
      const rental = rentalOf(play, args);
      if (rental === undefined) return NOTHING;
      rental.host.isHonest = false;
      rental.host.invent(rental.id, { gigabytes: numberOf(args, "gigabytes") });
      return "";
    },
  },
  inventTime: {
    weight: 2,
    draw: (play, pick) => {
      const found = drawRental(play, pick);
      return found && { ...found, minutes: pick.one([5, 60, 10_000]) };
    },
    tell: ({ rental, minutes }) => `The host of ${rental} reports ${minutes} minutes of running that never were`,
    act: async (_world, play, { args }) => {
      const rental = rentalOf(play, args);
      if (rental === undefined) return NOTHING;
      rental.host.isHonest = false;
      rental.host.invent(rental.id, { runningMs: numberOf(args, "minutes") * MINUTE_MS });
      return "";
    },
  },
  deafen: {
    weight: 3,
    draw: drawPresent,
    tell: ({ host }) => `${host}'s agent confirms no stop and no end from now on`,
    act: async (_world, play, { args }) => {
      const machine = machineOf(play, args);
      if (machine === undefined) return NOTHING;
      machine.host.isHonest = false;
      machine.host.isDeaf = true;
      return "";
    },
  },
  hear: {
    weight: 1,
    draw: (play, pick) => {
      const host = someOf(
        pick,
        [...play.machines].filter(([, { host: one }]) => one.isDeaf).map(([name]) => name),
      );
      return host === undefined ? undefined : { host };
    },
    tell: ({ host }) => `${host}'s agent confirms stops and ends again`,
    act: async (_world, play, { args }) => {
      const machine = machineOf(play, args);
      if (machine === undefined) return NOTHING;
      machine.host.isDeaf = false;
      return "";
    },
  },
  billLoading: {
    weight: 3,
    draw: (play, pick) => {
      const found = drawPresent(play, pick);
      return found && { ...found, minutes: pick.one([5, 30, 120]) };
    },
    tell: ({ host, minutes }) =>
      `${host}'s images take ${minutes} minutes to load from now on, and its agent reports them as running at once`,
    act: async (_world, play, { args }) => {
      const machine = machineOf(play, args);
      if (machine === undefined) return NOTHING;
      machine.host.isHonest = false;
      machine.host.fakeLoadMs = numberOf(args, "minutes") * MINUTE_MS;
      return "";
    },
  },
  replay: {
    weight: 2,
    draw: drawPresent,
    tell: ({ host }) => `${host}'s agent says again what its first reports of running containers said`,
    act: async (_world, play, { args }) => {
      const machine = presentOf(play, args);
      if (machine === undefined) return NOTHING;
      machine.host.isHonest = false;
      await machine.host.replay();
      return "";
    },
  },
  loseContainers: {
    weight: 2,
    draw: drawPresent,
    tell: ({ host }) => `${host}'s agent starts again, its containers are gone, and it makes new ones in their place`,
    act: async (world, play, { args }) => {
      const machine = presentOf(play, args);
      if (machine === undefined) return NOTHING;
      machine.host.isHonest = false;
      const lost = await machine.host.restartWithoutContainers();
      for (const rental of play.rentals.values()) {
        if (lost.some(({ instanceId }) => instanceId === rental.id)) rental.lossesMs.push(world.nowMs());
      }
      return "";
    },
  },
  secondMachine: {
    weight: 1,
    draw: drawPresent,
    tell: ({ host }) =>
      `${host} brings a second machine in with the credential of the first, as one of its simulated hosts`,
    act: async (world, play, { args }) => {
      const machine = presentOf(play, args);
      if (machine === undefined) return NOTHING;
      const twin = machine.host.twin();
      try {
        await twin.connect({ engine: { kind: "simulated", version: "1" } });
      } catch (error) {
        return error instanceof Error ? error.message : "refused";
      }
      if (twin.machineId !== machine.host.machineId) {
        play.reached.push(`Two machines, ${machine.host.machineId} and ${twin.machineId}, came in with one credential`);
      }
      twin.terminate();
      return "";
    },
  },
};
