// Endpoints whose workers rent by themselves.
import { NOTHING, outcomeOf, someOf, textOf, type DeedRules } from "./deeds.ts";
import type { Person } from "./case.ts";
import type { CheatsWorld } from "./world.ts";

export const fleetDeeds: DeedRules = {
  hire: {
    weight: 2,
    draw: (play, pick) => {
      const shown = [...play.people.values()].flatMap(({ name, shown: offers }) =>
        [...offers.keys()].map((key) => [name, key]),
      );
      const [who = "", offer = ""] = someOf(pick, shown) ?? [];
      return who === "" ? undefined : { who, offer, key: pick.one(["whole", "misc"]) };
    },
    tell: ({ who, offer, key }) =>
      `${who} makes an endpoint with a group of workers on ${String(offer).split(" ")[0]}'s machine, with a key that may do ${key === "misc" ? "misc and nothing else" : "everything"}`,
    act: async (world, play, { args, label }) => {
      const person = play.people.get(textOf(args, "who"));
      const shown = person?.shown.get(textOf(args, "offer"));
      const [hostName = ""] = textOf(args, "offer").split(" ");
      const machine = play.machines.get(hostName);
      if (person === undefined || shown === undefined || machine === undefined) return NOTHING;
      const isNarrow = textOf(args, "key") === "misc";
      const secret = isNarrow ? await narrowKey(world, person) : person.secret;
      if (secret === undefined) return "refused (no key)";
      const sizes = { min_load: 0, cold_workers: 1, max_workers: 1 };
      // The endpoint may be there already: its owner makes it with a key that may.
      const made = await world.ask(person.secret, "POST", "/endptjobs/", { ...sizes, endpoint_name: label });
      if (made.status !== 200) return outcomeOf(made);
      const endpointId = Number(made.body.result);
      const search_params = `machine_id=${machine.host.machineId} num_gpus=${shown.size} verified=true`;
      const group = { endpoint_id: endpointId, launch_args: "--image busybox --disk 10", search_params };
      const answer = await world.ask(secret, "POST", "/workergroups/", group);
      if (answer.status !== 200) return outcomeOf(answer);
      const { prices, size: gpuCount } = shown;
      const of = { label, endpointId, renter: person, machine, hostName, gpuCount, prices, isNarrow };
      play.fleets.set(label, { ...of, madeMs: world.nowMs(), deletedMs: undefined });
      return `endpoint ${endpointId}`;
    },
  },
  dismiss: {
    weight: 1,
    draw: (play, pick) => {
      const found = someOf(
        pick,
        [...play.fleets.values()].filter(({ deletedMs }) => deletedMs === undefined),
      );
      return found && { fleet: found.label };
    },
    tell: ({ fleet }) => `The endpoint of ${fleet} is deleted`,
    act: async (world, play, { args }) => {
      const fleet = play.fleets.get(textOf(args, "fleet"));
      if (fleet === undefined || fleet.deletedMs !== undefined) return NOTHING;
      const answer = await world.ask(fleet.renter.secret, "DELETE", `/endptjobs/${fleet.endpointId}/`, {});
      if (answer.status === 200) fleet.deletedMs = world.nowMs();
      return outcomeOf(answer);
    },
  },
};

async function narrowKey(world: CheatsWorld, { secret, narrowKeys }: Person): Promise<string | undefined> {
  const known = narrowKeys.get("misc");
  if (known !== undefined) return known;
  const permissions = { api: { misc: {} } };
  const { status, body } = await world.ask(secret, "POST", "/auth/apikeys/", { name: "misc", permissions });
  if (status !== 200) return undefined;
  narrowKeys.set("misc", String(body.key));
  return String(body.key);
}
