// A market that looks like a real one: hosts in several countries, rentals in several states, weeks of charges, an endpoint
// with its traffic, a team. The pictures of the documentation are taken of it, and a test visits each page in it.
import type { TestContext } from "node:test";
import { withTransaction } from "../../../../server/src/db/transaction.ts";
import { inventHistory } from "../../../../server/src/domains/supply/hosts/for-assembly.ts";
import { shipTemplates } from "../../../../server/src/domains/rental/templates/index.ts";
import type { TestApp } from "../../app.ts";
import type { TestCaller } from "../../fixtures.ts";
import type { FakeHost, FakeHostOptions } from "../../hosts/fake-host.ts";
import { simulatedShells } from "../../hosts/shell-host.ts";
import { ManualClock } from "../../manual-clock.ts";
import { done } from "../../teams.ts";
import { consoleWorld, type ConsoleWorld } from "../console-world.ts";
import { answerLogs, keepReporting } from "./live-hosts.ts";
import { MACHINES } from "./machines.ts";
import { aStaffedTeam, belongings, news, owners, people, type People } from "./people.ts";
import {
  changeRentals,
  happenNow,
  HOUR_MS,
  measureMinutes,
  MINUTE_MS,
  passTime,
  rentLong,
  type Rentals,
} from "./rentals.ts";
import { serve, type Serving } from "./serving.ts";

const DAY_MS = 24 * HOUR_MS;

export type MarketOptions = {
  /** Days of rentals before now. */
  readonly days: number;
  /** Time between two reports of hosts in these days. */
  readonly stepMs: number;
  /** Minutes of measurements and traffic before now. */
  readonly minutes: number;
};

export type SeededMarket = People &
  Serving & {
    readonly host: TestCaller;
    readonly rentals: Rentals;
    /** The machine of the host with a rental. */
    readonly machine: number;
    readonly template: number;
  };

/** The market, a server of it whose clock has come to now, and a browser. */
export async function marketWorld(
  t: Pick<TestContext, "after">,
  options: MarketOptions,
): Promise<ConsoleWorld & { readonly market: SeededMarket }> {
  const shells = simulatedShells(t);
  const begin = Date.now() - options.days * DAY_MS - options.minutes * MINUTE_MS;
  const made: SeededMarket[] = [];
  const world = await consoleWorld(t, {
    clock: new ManualClock(begin),
    simulatedHosts: MACHINES.length,
    prepare: async (app) => made.push(await seedMarket(t, app, { ...options, shells })),
  });
  const [market] = made;
  if (market === undefined) throw new Error("no market was made");
  return { ...world, market };
}

type Shells = Partial<Pick<FakeHostOptions, "enter" | "facts">>;

async function seedMarket(
  t: Pick<TestContext, "after">,
  app: TestApp,
  { shells, ...options }: MarketOptions & { readonly shells: Shells },
): Promise<SeededMarket> {
  const who = await people(app);
  await withTransaction(app.env.database, app.clock, (tx) => shipTemplates(tx, who.operator.id, app));
  const byName = await owners(
    app,
    MACHINES.map(({ owner }) => owner),
  );
  const hosts: FakeHost[] = [];
  for (const [index, { gpu, gpus, price, owner, facts }] of MACHINES.entries()) {
    const [isFirst, of] = [index === 0, byName.get(owner)];
    if (of === undefined) throw new Error(`nobody is called ${owner}`);
    const given: Shells = isFirst ? shells : {};
    const host = await app.host({ owner: of, gpuName: gpu, gpus, ...given, facts: { ...facts, ...given.facts } });
    await list(app, of, host, price);
    hosts.push(host);
  }
  await app.settled();
  const long = await rentLong(app, who, hosts);
  await aStaffedTeam(app, who);
  await passTime(app, hosts, options.days * DAY_MS, options.stepMs);
  await withTransaction(app.env.database, app.clock, (tx) =>
    inventHistory(
      tx,
      hosts.map(({ machineId }, index) => ({ id: machineId, hostKey: `seeded ${index}` })),
    ),
  );
  for (const loop of ["verify-machines", "issue-invoices", "issue-statements", "invoice-earnings"]) {
    await app.runLoop(loop);
  }
  const [first] = hosts;
  const host = byName.get("fjordcompute");
  if (first === undefined || host === undefined) throw new Error("the market has no machines");
  const { step, ...serving } = await serve(app, who.mira, hosts);
  const sweep = await changeRentals(app, who, hosts, long);
  await measureMinutes(app, [{ host: first, ids: [long.trainer] }], options.minutes, step);
  for (const one of hosts) await one.report(one.obedience());
  const evaluation = await happenNow(app, who, hosts);
  keepReporting(t, hosts, evaluation);
  await belongings(app, who.mira, long.trainer);
  await news(app, who.mira);
  await operate(app, who, first);
  answerLogs(t, first);
  await app.settled();
  const templates = await done(app, who.mira.secret, "GET", "/template/?select_filters={}");
  return {
    ...who,
    ...serving,
    host,
    rentals: { ...long, sweep, evaluation },
    machine: first.machineId,
    template: Number(templates.templates[0]?.id),
  };
}

function list(app: TestApp, { secret }: TestCaller, { machineId }: FakeHost, price: number) {
  return done(app, secret, "PUT", "/machines/create_asks/", {
    ...{ machine: machineId, price_gpu: price, price_min_bid: price / 2, price_disk: 0.12, min_chunk: 1 },
    ...{ price_inetu: 0.003, price_inetd: 0.002, duration: "3 months" },
  });
}

/** Announcements of the operator, and reports of renters. */
async function operate(app: TestApp, { operator, mira }: People, { machineId }: FakeHost): Promise<void> {
  await done(app, operator.secret, "POST", "/admin/announcements/", {
    title: "Maintenance on Sunday",
    message: "The console is away for ten minutes from 02:00 UTC. Instances run on.",
  });
  await done(app, mira.secret, "PUT", `/machines/${machineId}/report/`, {
    ...{ problem: "slow disk", message: "Reads are slower than 400 MB/s, the offer says 5,600 MB/s." },
  });
}
