// How full a fleet gets when each renter takes the first offer that a search shows: the share of the GPUs that are rented
// when somebody is refused for the first time, and when everybody has asked; beside best-fit, random and oldest-first.
import { parseArgs } from "node:util";
import { seededRandom } from "../agent/src/base/random.ts";
import { asId, type OfferId } from "../server/src/base/ids.ts";
import { offerSizes } from "../server/src/domains/supply/market/rules/allocation.ts";
import type { OfferedMachine } from "../server/src/domains/supply/market/search/rules/offer-fields.ts";
import { OfferIndex } from "../server/src/domains/supply/market/search/rules/offer-index.ts";
import { searchOffers } from "../server/src/domains/supply/market/search/rules/search.ts";
import { anOfferedMachine } from "../test/support/hosts/offered-machines.ts";
import { makeTraces, readTrace, type Node, type Pod, type Trace } from "./support/cluster-trace.ts";
import { medianAndRange, rounded, table } from "./support/figures.ts";

const NOW = new Date("2026-02-01T00:00:00Z");
const MACHINES = 1_213;
const USAGE = "there are: --rounds 5 --machines 1213, and for a trace from files --nodes FILE --pods FILE";

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      nodes: { type: "string" },
      pods: { type: "string" },
      rounds: { type: "string", default: "5" },
      machines: { type: "string", default: String(MACHINES) },
    },
  });
  const [rounds, machines] = [Number(values.rounds), Number(values.machines)];
  const areNumbers = [rounds, machines].every((number) => Number.isInteger(number) && number >= 1);
  if (!areNumbers || (values.nodes === undefined) !== (values.pods === undefined)) throw new Error(USAGE);
  const { nodes, pods } = values;
  const traces = nodes === undefined || pods === undefined ? makeTraces(machines) : [readTrace(nodes, pods)];
  console.log(
    "Pods arrive one by one in random order and stay; one that wants a part of a GPU gets a whole one. All machines " +
      "cost the same for each GPU, so that nothing but the order of equal offers decides.",
  );
  for (const trace of traces) report(trace, measurePlacement(trace, rounds));
}

export type Filling = {
  /** Shares of all GPUs that were rented at the first refusal and at the end. */
  readonly atFirstRefusal: number;
  readonly atTheEnd: number;
  /** The share refused of all pods that want more than one GPU. */
  readonly severalRefused: number;
};

/** The fillings by policy, one for each round; in a round all policies see the same order. */
export function measurePlacement(trace: Trace, rounds: number): ReadonlyMap<string, readonly Filling[]> {
  const fillings = new Map<string, Filling[]>();
  for (let round = 0; round < rounds; round += 1) {
    const pods = shuffled(trace.pods, seededRandom(`order ${round}`));
    for (const [name, makePolicy] of POLICIES) {
      const filling = fill(trace.nodes, pods, makePolicy(trace.nodes, seededRandom(`choice ${round}`)));
      fillings.set(name, [...(fillings.get(name) ?? []), filling]);
    }
  }
  return fillings;
}

/** Chooses a machine with room for a pod and notes that it has it; undefined when none has. */
type Policy = (pod: Pod) => number | undefined;
type MakePolicy = (nodes: readonly Node[], random: () => number) => Policy;

const POLICIES: readonly (readonly [string, MakePolicy])[] = [
  ["Berth: the first result of a search", (nodes) => rentFirst(nodes, undefined)],
  ["the oldest offer", (nodes) => rentFirst(nodes, [["id", "asc"]])],
  ["control: best-fit", (nodes) => packed(nodes, (fitting, free) => least(fitting, free))],
  ["control: random", (nodes, random) => packed(nodes, (fitting) => fitting[Math.floor(random() * fitting.length)])],
];

/** Rents as a renter does: searches for exactly so many GPUs and takes the first offer, whereupon the others change. */
function rentFirst(nodes: readonly Node[], order: readonly (readonly [string, string])[] | undefined): Policy {
  const index = new OfferIndex();
  let lastOfferId = 0;
  const taken = new Map<number, { readonly gpus: number; readonly offers: OfferedMachine["offers"] }>();
  const align = (node: number, held: number, before: OfferedMachine["offers"]) => {
    const { gpus, model } = nodes[node] ?? { gpus: 0, model: "" };
    const sizes = offerSizes(gpus - held, 1);
    const machine = anOfferedMachine({
      id: node + 1,
      gpus,
      gpu: { name: model },
      held: Object.fromEntries(Array.from({ length: held }, (_, place) => [place, "on-demand" as const])),
    });
    const machineId = machine.machine.id;
    const offers = sizes.map((deviceCount) => {
      const known = before.find((offer) => offer.deviceCount === deviceCount);
      return known ?? { id: asId<OfferId>((lastOfferId += 1)), machineId, deviceCount };
    });
    index.replace({ ...machine, offers });
    taken.set(node, { gpus: held, offers });
  };
  for (const node of nodes.keys()) align(node, 0, []);
  return ({ gpus, models }) => {
    const named = models.length === 0 ? {} : { gpu_name: { in: models } };
    const query = { num_gpus: { eq: gpus }, ...named, limit: 1, ...(order === undefined ? {} : { order }) };
    const [offer] = searchOffers(index, query, { now: NOW, rentedMachines: new Set() });
    if (offer === undefined) return undefined;
    const node = offer.machine_id - 1;
    const { gpus: held, offers } = taken.get(node) ?? { gpus: 0, offers: [] };
    align(
      node,
      held + gpus,
      offers.filter(({ id }) => id !== offer.id),
    );
    return node;
  };
}

/** A policy that looks at all machines with room. */
function packed(
  nodes: readonly Node[],
  choose: (fitting: readonly number[], free: Int32Array) => number | undefined,
): Policy {
  const free = Int32Array.from(nodes, ({ gpus }) => gpus);
  return ({ gpus, models }) => {
    const fitting: number[] = [];
    for (const [node, { model }] of nodes.entries()) {
      if ((free[node] ?? 0) >= gpus && (models.length === 0 || models.includes(model))) fitting.push(node);
    }
    const chosen = choose(fitting, free);
    if (chosen !== undefined) free[chosen] = (free[chosen] ?? 0) - gpus;
    return chosen;
  };
}

function least(fitting: readonly number[], free: Int32Array): number | undefined {
  let best: number | undefined;
  for (const node of fitting) if (best === undefined || (free[node] ?? 0) < (free[best] ?? 0)) best = node;
  return best;
}

function fill(nodes: readonly Node[], pods: readonly Pod[], place: Policy): Filling {
  const free = nodes.map(({ gpus }) => gpus);
  const total = free.reduce((sum, gpus) => sum + gpus, 0);
  const several = pods.filter(({ gpus }) => gpus > 1).length;
  let [used, severalRefused] = [0, 0];
  let atFirstRefusal: number | undefined;
  for (const pod of pods) {
    const node = place(pod);
    if (node === undefined) {
      atFirstRefusal ??= used / total;
      if (pod.gpus > 1) severalRefused += 1;
      continue;
    }
    free[node] = (free[node] ?? 0) - pod.gpus;
    // The check holds for every policy: no GPU is sold twice.
    if ((free[node] ?? 0) < 0) throw new Error(`machine ${node} was given more than it has`);
    used += pod.gpus;
  }
  const atTheEnd = used / total;
  return {
    atFirstRefusal: atFirstRefusal ?? atTheEnd,
    atTheEnd,
    severalRefused: severalRefused / Math.max(1, several),
  };
}

function shuffled<T>(values: readonly T[], random: () => number): readonly T[] {
  return values
    .map((value) => [random(), value] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, value]) => value);
}

function report(trace: Trace, fillings: ReadonlyMap<string, readonly Filling[]>): void {
  const sum = (all: readonly { readonly gpus: number }[]) => rounded(all.reduce((total, { gpus }) => total + gpus, 0));
  console.log(
    `\n${trace.name}: ${rounded(trace.pods.length)} pods want ${sum(trace.pods)} GPUs of ${rounded(trace.nodes.length)} ` +
      `machines with ${sum(trace.nodes)}. In percent, median (range) of the rounds.\n`,
  );
  const rows = [...fillings].map(([name, all]) => {
    const percent = (pick: (filling: Filling) => number) =>
      medianAndRange(
        all.map((one) => pick(one) * 100),
        1,
      );
    return [
      name,
      percent((one) => one.atFirstRefusal),
      percent((one) => one.atTheEnd),
      percent((one) => one.severalRefused),
    ];
  });
  console.log(
    table([["", "rented at the first refusal", "rented at the end", "refused, of those for several GPUs"], ...rows]),
  );
}
