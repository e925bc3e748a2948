import { until } from "../until.ts";
import type { DrillWorld } from "./world.ts";

/** A part of the installation that dies or is replaced, and is brought back as its supervisor or an operator would. */
export type Part = {
  readonly name: string;
  /** Kills it; returns when it is dead. */
  kill(world: DrillWorld): Promise<void>;
  /** Brings it back, and returns when everything is as before. */
  mend(world: DrillWorld): Promise<void>;
};

/** Each part of the drill in turn. */
export function listParts(): readonly Part[] {
  const deaths = [aServer(), primaryProcess(), primaryMachine(), standbyMachine(), etcdMember()];
  return [...deaths, databaseProxy(), frontProxy(), upgrade()];
}

function aServer(): Part {
  return {
    name: "a server of three",
    kill: (world) => world.killServer(1),
    async mend(world) {
      await world.restartServer(1);
      await world.untilReady();
    },
  };
}

function primaryProcess(): Part {
  return {
    name: "PostgreSQL of the primary",
    kill: (world) => killPrimary(world, false),
    mend: whole,
  };
}

function primaryMachine(): Part {
  let dead = "";
  return {
    name: "machine of the primary",
    async kill(world) {
      dead = (await world.patroni.primary())?.name ?? "";
      await killPrimary(world, true);
    },
    async mend(world) {
      await until("the standby to take over", async () => {
        const name = (await world.patroni.primary())?.name;
        return name !== undefined && name !== dead;
      });
      await whole(world);
    },
  };
}

function standbyMachine(): Part {
  return {
    name: "machine of the standby",
    async kill({ patroni }) {
      await patroni.kill(await patroni.standby(), { withPatroni: true });
    },
    mend: whole,
  };
}

function etcdMember(): Part {
  return {
    name: "one etcd of three",
    kill: ({ patroni }) => patroni.etcd.kill(0),
    async mend(world) {
      world.patroni.etcd.restart(0);
      await world.patroni.etcd.untilHealthy();
      await whole(world);
    },
  };
}

function databaseProxy(): Part {
  return {
    name: "HAProxy of the database",
    kill: ({ patroni }) => patroni.proxy.kill(),
    async mend(world) {
      await world.patroni.proxy.restart();
      await whole(world);
    },
  };
}

function frontProxy(): Part {
  return {
    name: "HAProxy in front",
    kill: ({ front }) => front.kill(),
    async mend(world) {
      await world.front.restart();
      await world.untilReady();
    },
  };
}

async function killPrimary({ patroni }: DrillWorld, withPatroni: boolean): Promise<void> {
  const primary = await patroni.primary();
  if (primary === undefined) throw new Error("there is no primary at the moment");
  await patroni.kill(primary, { withPatroni });
}

/** Starts what was killed of the database, and waits for a primary with its standby, and for the servers. */
async function whole(world: DrillWorld): Promise<void> {
  for (const member of world.patroni.members) world.patroni.restart(member);
  await world.patroni.untilWhole();
  await world.untilReady();
}

/** Each server is told to stop, and a newer version with a further migration starts in its place. */
function upgrade(): Part {
  return {
    name: "upgrade of all servers",
    kill: (world) => world.prepareUpgrade(),
    async mend(world) {
      for (const index of world.servers.keys()) {
        await world.upgradeServer(index);
        await world.untilReady();
      }
    },
  };
}
