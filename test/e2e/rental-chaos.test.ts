// Renters who change their minds, and processes that are killed meanwhile, at random: everything comes to rest as it was
// wanted last, and in the end nothing is left.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Answer } from "../support/berth.ts";
import { docker } from "../support/hosts/docker.ts";
import { seededRandom } from "../support/random.ts";
import { aRenter, untilUntouched, type Renter } from "../support/renter.ts";
import { TEST_SEED } from "../support/seed.ts";
import { startThisMachine, type ThisMachine } from "../support/hosts/this-machine.ts";
import { until } from "../support/until.ts";

const STEPS = Number(process.env["BERTH_CHAOS_STEPS"] ?? 60);
/** The most looks at the list between two steps, so that the next step meets instances at any stage. */
const LOOKS_MAX = 25;
/** Statuses that the state of an instance may well lead to. */
const FAIR_STATUSES = new Set([200, 400, 404, 409, 410]);

type Step = (context: {
  readonly machine: ThisMachine;
  readonly renter: Renter;
  readonly pick: <T>(list: readonly T[]) => T;
  /** The id of a rented instance, or a number that none has. */
  readonly id: number;
  readonly rented: Set<number>;
}) => Promise<Answer | void>;

const rent = async (
  { renter, machine, rented }: Pick<Parameters<Step>[0], "renter" | "machine" | "rented">,
  body: object,
): Promise<Answer | void> => {
  const search = { num_gpus: { eq: 0 }, order: [["dph_total", "asc"]] };
  const [offer] = (await renter.done("POST", "/api/v0/bundles/", search)).offers;
  if (offer === undefined) return;
  const answer = await renter.call("PUT", `/api/v0/asks/${offer.id}/`, { image: machine.image, disk: 8, ...body });
  if (answer.status === 200) rented.add(answer.body.new_contract);
  return answer;
};

const STEPS_BY_NAME: Readonly<Record<string, Step>> = {
  rent: (context) =>
    rent(context, { runtype: context.pick(["ssh_direct", "ssh_proxy", "args"]), env: "-p 80:80 -p 70000:70000" }),
  "rent nonsense": (context) => rent(context, { image: "127.0.0.1:1/nobody/has-this" }),
  "rent with a volume": async (context) => {
    const search = { machine_id: { eq: context.machine.machineId } };
    const [offer] = (await context.renter.done("POST", "/api/v0/volumes/search/", search)).offers;
    const volume_info = { create_new: true, volume_id: offer?.id ?? 1, size: 0.1, mount_path: "/data" };
    return rent(context, { runtype: "ssh_direct", volume_info });
  },
  stop: ({ renter, id }) => renter.call("PUT", `/api/v0/instances/${id}/`, { state: "stopped" }),
  start: ({ renter, id }) => renter.call("PUT", `/api/v0/instances/${id}/`, { state: "running" }),
  reboot: ({ renter, id }) => renter.call("PUT", `/api/v0/instances/reboot/${id}/`, {}),
  recycle: ({ renter, id }) => renter.call("PUT", `/api/v0/instances/recycle/${id}/`, {}),
  update: ({ renter, id }) => renter.call("PUT", `/api/v0/instances/update_template/${id}/`, { env: "-e NEW=1" }),
  execute: ({ renter, id }) => renter.call("PUT", `/api/v0/instances/command/${id}/`, { command: "ls /" }),
  logs: ({ renter, id }) => renter.call("PUT", `/api/v0/instances/request_logs/${id}/`, {}),
  copy: ({ renter, id, pick, rented }) =>
    renter.call("PUT", "/api/v0/commands/copy_direct/", {
      ...{ src_id: id, src_path: "/bin/", dst_id: pick([...rented, id]), dst_path: "/copied" },
    }),
  snapshot: ({ renter, id }) =>
    renter.call("POST", `/api/v0/instances/take_snapshot/${id}/`, {
      ...{ container_registry: "127.0.0.1:1", personal_repo: "nobody/takes-this" },
    }),
  destroy: async ({ renter, id, rented }) => {
    const answer = await renter.call("DELETE", `/api/v0/instances/${id}/`);
    rented.delete(id);
    return answer;
  },
  "kill the agent": async ({ machine }) => {
    const [agent] = await machine.berth().agentPids();
    if (agent !== undefined) process.kill(agent, "SIGKILL");
  },
  "kill the server": async ({ machine }) => {
    await machine.berth().kill();
    await machine.startAgain();
  },
};
/** Names of the steps, some of them several times, so that they are drawn more often. */
const NAMES = Object.keys(STEPS_BY_NAME).flatMap((name) => (/^(rent|start)$/.test(name) ? [name, name, name] : [name]));

describe("renting at random", () => {
  test(`comes to rest and leaves nothing, over ${STEPS} steps (seed ${TEST_SEED})`, async (t) => {
    console.log(`chaos seed ${TEST_SEED} (BERTH_TEST_SEED, BERTH_CHAOS_STEPS)`);
    const random = seededRandom(TEST_SEED);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
    const machine = await startThisMachine(31_500);
    t.after(() => machine.close());
    const renter = await aRenter(machine, "chaos");
    t.after(() => renter.close());
    const listing = { machine: machine.machineId, size: 3 };
    await machine.berth().call("POST", "/api/v0/volumes/", { key: machine.berth().adminKey, body: listing });

    const rented = new Set<number>();
    for (let count = 0; count < STEPS; count += 1) {
      const name = count === 0 ? "rent" : pick(NAMES);
      const answer = await STEPS_BY_NAME[name]?.({ machine, renter, pick, id: pick([...rented, 1]), rented });
      const isFair = answer === undefined || FAIR_STATUSES.has(answer.status);
      assert.ok(isFair, `${name}: ${answer?.status} ${answer?.text}`);
      for (let looks = random() * LOOKS_MAX; looks > 0; looks -= 1) await renter.done("GET", "/api/v0/instances/");
    }

    const isStoppedFirst = random() < 0.5;
    for (const id of rented) {
      if (isStoppedFirst) await renter.done("PUT", `/api/v0/instances/${id}/`, { state: "stopped" });
    }
    for (const id of rented) if (isStoppedFirst) await renter.untilStatus(id, "stopped");
    for (const id of rented) await renter.done("DELETE", `/api/v0/instances/${id}/`);
    for (const { id } of (await renter.done("GET", "/api/v0/volumes")).volumes) {
      await until(`volume ${id} is let go`, async () => {
        return (await renter.call("DELETE", `/api/v0/volumes/?id=${id}`)).status === 200;
      });
    }
    await untilUntouched(machine, renter);
    // Those of other tests come and go meanwhile.
    const snapshots = () => docker("images", "-q", "--filter", "reference=berth-snapshot/*");
    await until("no snapshot to be left", async () => (await snapshots()) === "");
  });
});
