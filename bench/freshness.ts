// How long a change of a host takes until searches over HTTP show it, on a market of many other offers.
import { systemClock } from "../server/src/base/clock.ts";
import { issueAgentToken, MARKET_CHANNEL } from "../server/src/domains/supply/hosts/for-assembly.ts";
import { notifyMachines } from "../server/src/domains/supply/hosts/for-instances.ts";
import { withTransaction } from "../server/src/db/transaction.ts";
import { FakeHost } from "../test/support/hosts/fake-host.ts";
import { readNumbers } from "./support/arguments.ts";
import { callApi, startBenchServer, type BenchServer } from "./support/berth-server.ts";
import { describeEnvironment } from "./support/environment.ts";
import { quantile, rounded, table } from "./support/figures.ts";
import { seedOffers } from "./support/seed-offers.ts";
import { seedUsers, waitForOffers, type BenchUser } from "./support/seed.ts";

const GPUS = 4;
const CREDIT_DOLLARS = 1_000;
const FIRST_MILLIDOLLARS = 300;
const WAIT_MS = 900_000;
const AIM_MS = 100;

const DEFAULTS = { offers: 100_000, rounds: 60 };
type Options = typeof DEFAULTS;

type Offer = {
  readonly id: number;
  readonly num_gpus: number;
  readonly dph_base: number;
  readonly rentable: boolean;
};

export async function run(args: readonly string[]): Promise<void> {
  await measureFreshness(readNumbers(args, DEFAULTS));
}

/** Runs the benchmark and returns the times by what changed, in milliseconds. */
export async function measureFreshness(options: Options): Promise<ReadonlyMap<string, readonly number[]>> {
  const server = await startBenchServer();
  try {
    console.log(describeEnvironment(server.dataDir));
    const ids = await seedOffers(server.database, options.offers);
    await withTransaction(server.database, systemClock, (tx) => notifyMachines(tx, MARKET_CHANNEL, ids));
    await waitForOffers(server, 1);
    const [owner, renter] = await seedUsers(server.database, { count: 2, creditDollars: CREDIT_DOLLARS });
    if (owner === undefined || renter === undefined) throw new Error("both users were asked for");
    const host = await connectHost(server, owner);
    const times = new Map<string, number[]>();
    try {
      await playRounds({ server, host, owner, renter, times }, options.rounds);
    } finally {
      host.terminate();
    }
    report(times, options);
    return times;
  } finally {
    await server.stop();
  }
}

async function connectHost({ url, database }: BenchServer, owner: BenchUser): Promise<FakeHost> {
  const token = await withTransaction(database, systemClock, (tx) =>
    issueAgentToken(tx, { userId: owner.id, name: "bench", isTrusted: true }),
  );
  const host = new FakeHost({ origin: new URL(url).host, token, clock: systemClock, database, gpus: GPUS });
  await host.connect();
  return host;
}

type Play = {
  readonly server: BenchServer;
  readonly host: FakeHost;
  readonly owner: BenchUser;
  readonly renter: BenchUser;
  readonly times: Map<string, number[]>;
};

async function playRounds(play: Play, rounds: number): Promise<void> {
  const { server, host, owner } = play;
  const all = (offers: readonly Offer[]) => offers.some(({ num_gpus: size }) => size === GPUS);
  const list = (priceDollars: number) => {
    const body = { machine: host.machineId, price_gpu: priceDollars, min_chunk: 1 };
    return callApi(server, owner.secret, { method: "PUT", path: "/api/v0/machines/create_asks/", body });
  };
  await list(FIRST_MILLIDOLLARS / 1000);
  await visible(play, "the host", (offers) => offers.length === GPUS);
  for (let round = 1; round <= rounds; round += 1) {
    const price = (FIRST_MILLIDOLLARS + round) / 1000;
    await measure(play, "its price", {
      change: () => list(price),
      isVisible: (offers) => offers.some(({ num_gpus: size, dph_base: dollars }) => size === 1 && dollars === price),
    });
    await measure(play, "a GPU fails", {
      change: () => host.report([], { gpus: [health(host, false)] }),
      isVisible: (offers) => !all(offers),
    });
    await measure(play, "it is well again", {
      change: () => host.report([], { gpus: [health(host, true)] }),
      isVisible: all,
    });
    await rentAndReturn(play);
    await measure(play, "the line breaks", {
      change: async () => host.terminate(),
      isVisible: (offers) => offers.every(({ rentable }) => !rentable),
    });
    await measure(play, "it is back", {
      change: () => host.connect(),
      isVisible: (offers) => all(offers) && offers.every(({ rentable }) => rentable),
    });
  }
}

function health(host: FakeHost, isHealthy: boolean) {
  const uuid = host.gpus[GPUS - 1]?.uuid ?? "";
  return { uuid, is_healthy: isHealthy, reason: "", utilization_percent: null, temperature_c: null };
}

async function rentAndReturn(play: Play): Promise<void> {
  const { server, host, renter } = play;
  const [offer] = (await search(play)).filter(({ num_gpus: size }) => size === 1);
  if (offer === undefined) throw new Error("there is nothing to rent");
  let instance = 0;
  await measure(play, "an offer is rented", {
    change: async () => {
      const path = `/api/v0/asks/${offer.id}/`;
      const answer = await callApi(server, renter.secret, {
        method: "PUT",
        path,
        body: { image: "busybox", disk: 10 },
      });
      instance = Number(answer["new_contract"]);
    },
    isVisible: (offers) => !offers.some(({ id }) => id === offer.id),
  });
  await callApi(server, renter.secret, { method: "DELETE", path: `/api/v0/instances/${instance}/` });
  await measure(play, "its GPU is free again", {
    change: () => host.obey(),
    isVisible: (offers) => offers.length === GPUS,
  });
}

/** Makes a change and notes how long it takes, from its beginning on, until a search shows it. */
async function measure(
  play: Play,
  name: string,
  step: {
    readonly change: () => Promise<unknown>;
    readonly isVisible: (offers: readonly Offer[]) => boolean;
  },
): Promise<void> {
  const startMs = performance.now();
  const [seenMs] = await Promise.all([visible(play, name, step.isVisible), step.change()]);
  play.times.set(name, [...(play.times.get(name) ?? []), seenMs - startMs]);
}

/** The time at which a search first showed the change. */
async function visible(play: Play, name: string, isVisible: (offers: readonly Offer[]) => boolean): Promise<number> {
  const endMs = performance.now() + WAIT_MS;
  while (performance.now() < endMs) {
    if (isVisible(await search(play))) return performance.now();
  }
  throw new Error(`no search ever showed: ${name}`);
}

async function search({ server, host }: Play): Promise<readonly Offer[]> {
  const response = await fetch(`${server.url}/api/v0/bundles/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ machine_id: { eq: host.machineId }, allocated_storage: 0, disable_bundling: true }),
  });
  const { offers } = (await response.json()) as { readonly offers: readonly Offer[] };
  return offers;
}

function report(times: ReadonlyMap<string, readonly number[]>, { offers, rounds }: Options): void {
  console.log(
    `\nOne host of ${GPUS} GPUs among about ${rounded(offers)} offers; from the beginning of the change until a search ` +
      `over HTTP shows it, asked one after the other; ${rounds} rounds; the aim is ${AIM_MS} ms.\n`,
  );
  const rows = [...times].map(([name, all]) => [
    name,
    rounded(quantile(all, 0.5), 1),
    rounded(quantile(all, 0.99), 1),
    `${all.filter((ms) => ms <= AIM_MS).length} of ${all.length}`,
  ]);
  console.log(table([["milliseconds", "p50", "p99", "within the aim"], ...rows]));
}
