// Network volumes: parts of a disk that an operator registered for a host, and that the host's machine mounts.
import {
  dollars,
  EVERYBODY,
  NOTHING,
  numberOf,
  outcomeOf,
  payingPeople,
  personOf,
  someOf,
  textOf,
  type DeedRules,
  type Picker,
} from "./deeds.ts";
import type { Args, Machine } from "./case.ts";
import { look } from "./renter-deeds.ts";
import type { CheatsWorld } from "./world.ts";

const DISK_GB = 1_000;
const PRICES = [0.1, 1, 1];
const HOUR_S = 3_600;

const drawTerms = (pick: Picker, host: string): Args => ({
  host,
  price: pick.one(PRICES),
  hours: pick.one([1, 24, 720]),
});
const tellTerms = ({ price, hours }: Args) => `${dollars(price)} for a GB a month, until ${hours} hours from now`;

async function list(world: CheatsWorld, { owner, networkDiskId }: Machine, args: Args): Promise<string> {
  const endS = Math.floor(world.nowMs() / 1000) + numberOf(args, "hours") * HOUR_S;
  const terms = { size: DISK_GB, price_disk: numberOf(args, "price"), end_date: endS };
  return outcomeOf(await world.ask(owner.secret, "POST", "/network_volume/", { disk_id: networkDiskId, ...terms }));
}

export const networkDeeds: DeedRules = {
  shareDisk: {
    weight: 1,
    draw: (play, pick) => {
      const host = someOf(pick, [...play.machines.keys()]);
      return host === undefined ? undefined : drawTerms(pick, host);
    },
    tell: (args) => `${args["host"]} offers space on a network disk: ${tellTerms(args)}`,
    act: async (world, play, { args }) => {
      const machine = play.machines.get(textOf(args, "host"));
      if (machine === undefined) return NOTHING;
      if (machine.networkDiskId === undefined) {
        const disk = { user_id: machine.owner.id, size: DISK_GB };
        const made = await world.done(world.admin.secret, "POST", "/admin/disks/", disk);
        const mount = { machines: [machine.host.machineId], mount_point: "/mnt/shared", disk_id: made.disk_id };
        const mounted = await world.ask(machine.owner.secret, "POST", "/network_disk/", mount);
        if (mounted.status !== 200) return outcomeOf(mounted);
        machine.networkDiskId = Number(made.disk_id);
      }
      return list(world, machine, args);
    },
  },
  storeThere: {
    weight: 3,
    draw: (play, pick) => {
      const sharing = [...play.machines].flatMap(([name, one]) => (one.networkDiskId === undefined ? [] : [name]));
      const [who, host] = [someOf(pick, payingPeople(play)), someOf(pick, sharing)];
      if (who === undefined || host === undefined) return undefined;
      return { who: who.name, host, size: pick.one([1, 20, 400]), again: pick.one(["", "looks again and "]) };
    },
    tell: ({ who, host, size, again }) => `${who} ${again}rents ${size} GB of ${host}'s network disk`,
    act: async (world, play, { args, label }) => {
      const host = textOf(args, "host");
      const machine = play.machines.get(host);
      const person = await personOf(world, play, textOf(args, "who"));
      if (machine === undefined) return NOTHING;
      if (textOf(args, "again") !== "") {
        await look(world, play, { kind: "look", label, args: { who: person.name, host } });
      }
      const shown = person.shownSpace.get(`${host} net`);
      if (shown === undefined) return NOTHING;
      const sizeGb = numberOf(args, "size");
      const body = { id: shown.offerId, size: sizeGb };
      const answer = await world.ask(person.secret, "PUT", "/network_volumes/", body);
      if (answer.status !== 200) return outcomeOf(answer);
      const of = { label, id: Number(answer.body.id), renter: person, host: machine.host, sizeGb, price: shown.price };
      play.stored.set(label, { ...of, fromMs: world.nowMs(), deletedMs: undefined });
      return `volume ${answer.body.id}`;
    },
  },
  rentWithVolume: {
    weight: 2,
    draw: (play, pick) => {
      const volume = someOf(
        pick,
        [...play.stored.values()].filter(({ deletedMs }) => deletedMs === undefined),
      );
      return volume && { volume: volume.label, who: pick.one(EVERYBODY) };
    },
    tell: ({ who, volume }) =>
      `${who} tries to rent a machine with ${volume}, and to clone and delete it where it is somebody else's`,
    act: async (world, play, { args }) => {
      const volume = play.stored.get(textOf(args, "volume"));
      const person = await personOf(world, play, textOf(args, "who"));
      if (volume === undefined || volume.deletedMs !== undefined || volume.renter === person) return NOTHING;
      const { id } = volume;
      const gpus = [...person.shown.values()].map(({ offerId }) => offerId);
      const space = [...person.shownSpace.values()].map(({ offerId }) => offerId);
      const wish = { image: "busybox", disk: 10 };
      const tries = [
        ["DELETE", "/volumes/", { id }],
        ...gpus.map((offer) => ["PUT", `/asks/${offer}/`, { ...wish, env: `-v V.${id}:/data` }] as const),
        ...gpus.map(
          (offer) =>
            [
              "PUT",
              `/asks/${offer}/`,
              { ...wish, volume_info: { create_new: false, volume_id: id, mount_path: "/data" } },
            ] as const,
        ),
        ...space.map((offer) => ["POST", "/volumes/copy/", { src_id: id, dst_id: offer }] as const),
      ] as const;
      for (const [method, path, body] of tries) {
        const { status } = await world.ask(person.secret, method, path, body);
        if (status === 200)
          play.reached.push(
            `${person.name} did ${method} ${path} with ${volume.label}, a volume of ${volume.renter.name}`,
          );
      }
      const { text } = await world.ask(person.secret, "GET", "/volumes/");
      if (new RegExp(`"id":${id}\\b`).test(text))
        play.reached.push(`${person.name} sees ${volume.label}, a volume of ${volume.renter.name}`);
      return "";
    },
  },
};
