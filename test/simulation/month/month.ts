// A month of a small market, day by day: three renters and a team, two hosts, and their fortunes. Everything
// that people do goes over HTTP; time and hosts are the script's.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import {
  acceptIncrease,
  audit,
  bid,
  creditOf,
  destroy,
  flow,
  grant,
  HARBOUR,
  isUp,
  keep,
  list,
  minuteOf,
  named,
  NORTHLIGHT,
  NORTHLIGHT_LATER,
  payOut,
  prepay,
  remove,
  rent,
  setState,
  stoppedMs,
  timeOf,
  type Month,
  type Script,
} from "./actions.ts";
import { MonthWorld } from "./world.ts";

export const MONTH = { from: "2026-03-01", to: "2026-03-31" } as const;
export const FEE_PERCENT = 15;
const BEGIN = "2026-03-01T08:00:00Z";
const MINUTE_MS = 60_000;
const LEASE_MS = 10 * MINUTE_MS;

/** Plays the month and the first days of the next one. */
export async function playMonth(scope: Pick<TestContext, "after">): Promise<Month> {
  const world = await MonthWorld.begin(scope, BEGIN, { feePpm: FEE_PERCENT * 10_000 });
  const script = await opening(world);
  await bidsAndStops(script);
  await caps(script);
  await restartAndArrears(script);
  await outageAndRefund(script);
  await dearerAndOver(script);
  return script;
}

async function opening(world: MonthWorld): Promise<Script> {
  const [ada, ben, dora, cleo] = [
    await world.person("Ada"),
    await world.person("Ben"),
    await world.person("Dora"),
    await world.person("Cleo"),
  ];
  const owners = { harbour: await world.person("Harbour"), northlight: await world.person("Northlight") };
  const hosts = {
    harbour: await world.host(owners.harbour, 4),
    northlight: await world.host(owners.northlight, 2),
  };
  await list(world, { owner: owners.harbour, host: hosts.harbour, listing: HARBOUR });
  await list(world, { owner: owners.northlight, host: hosts.northlight, listing: NORTHLIGHT });
  for (const [owner, email] of [
    [owners.harbour, "money@harbour.example"],
    [owners.northlight, "money@northlight.example"],
  ] as const) {
    await world.done(owner, "PUT", "/v0/billing/payout_method/", { method: "paypal", details: { email } });
  }
  await grant(world, ada, 400);
  await grant(world, ben, 40);
  await grant(world, dora, 400);
  await grant(world, cleo, 300);
  const made = await world.done(cleo, "POST", "/v0/team/", { team_name: "Lab", transfer_credit: 280 });
  world.tell("Cleo", "founds the team Lab with $280 of her credit");
  const lab = { ...cleo, id: made.id, name: "Lab", secret: made.key };
  return {
    world,
    people: { ada, ben, dora, lab, ...owners },
    hosts,
    rentals: [],
    volumes: [],
    outages: [],
    audits: [],
  };
}

/** 2 to 7 March. */
async function bidsAndStops(script: Script): Promise<void> {
  const { world, people, hosts } = script;
  const { ada, ben, lab, dora } = people;
  await world.until("2026-03-02T09:00:00Z");
  const train = await rent(script, ada, { label: "train", host: hosts.harbour, gpus: 2, disk: 50 });
  flow(train, { from: "2026-03-02T18:00:00Z", until: "2026-03-02T20:00:00Z", received: 15_000_000, sent: 0 });
  flow(train, { from: "2026-03-04T10:00:00Z", until: "2026-03-04T11:00:00Z", received: 0, sent: 8_000_000 });
  await world.until("2026-03-03T10:00:00Z");
  const sweep = await rent(script, ben, { label: "sweep", host: hosts.harbour, gpus: 1, disk: 100, bid: 0.15 });
  await audit(script);
  await world.until("2026-03-04T09:00:00Z");
  await rent(script, lab, { label: "paper", host: hosts.harbour, gpus: 2, disk: 80 });
  assert.ok(!isUp(sweep), "the bid had to give way");
  world.tell("Ben", "sweep is evicted: the listed price goes before a bid");
  await world.until("2026-03-04T18:00:00Z");
  await setState(script, train, "stopped");
  assert.ok(isUp(sweep), "its GPU is free again");
  world.tell("Ben", "sweep runs again by itself");
  await world.until("2026-03-05T12:00:00Z");
  await bid(script, sweep, 0.12);
  await keep(script, dora, { host: hosts.northlight, sizeGb: 50, price: 0.1 });
  await world.until("2026-03-06T12:00:00Z");
  await bid(script, sweep, 0.22);
}

/** 6 to 10 March. */
async function caps(script: Script): Promise<void> {
  const { world, people, rentals, hosts } = script;
  const paper = named(rentals, "paper");
  await world.until("2026-03-06T14:00:00Z");
  await world.done(people.lab, "PUT", "/v0/caps/", { scope: "account", period: "day", limit: 15 });
  world.tell("Lab", "may spend no more than $15 a day from now on");
  await world.until("2026-03-07T00:00:00Z");
  assert.ok(!isUp(paper), "it was stopped");
  world.tell("Lab", `paper was stopped at ${timeOf(stoppedMs(paper))}, before the limit was passed; its data is kept`);
  await audit(script);
  await world.until("2026-03-07T08:00:00Z");
  await setState(script, paper, "running");
  await world.until("2026-03-07T09:00:00Z");
  await world.done(people.lab, "PUT", "/v0/caps/", { scope: "account", period: "day", limit: 30 });
  world.tell("Lab", "raises the limit to $30 a day");
  await world.until("2026-03-08T10:00:00Z");
  const render = await rent(script, people.dora, { label: "render", host: hosts.northlight, gpus: 1, disk: 40 });
  flow(render, { from: "2026-03-09T00:00:00Z", until: "2026-03-19T00:00:00Z", received: 100_000, sent: 50_000 });
  await prepay(script, render, 200);
  await world.until("2026-03-09T09:00:00Z");
  await setState(script, named(rentals, "train"), "running");
  assert.ok(!isUp(named(rentals, "sweep")), "the bid gives way again");
  await world.until("2026-03-10T09:00:00Z");
  await destroy(script, named(rentals, "train"));
  assert.ok(isUp(named(rentals, "sweep")), "and comes back");
}

/** 11 to 16 March. */
async function restartAndArrears(script: Script): Promise<void> {
  const { world, people, rentals } = script;
  const sweep = named(rentals, "sweep");
  await world.until("2026-03-11T03:00:00Z");
  await world.restart(4 * MINUTE_MS);
  world.tell("Office", "the server is restarted, four minutes of which nobody notices");
  await audit(script);
  await world.until("2026-03-12T10:00:00Z");
  await destroy(script, named(rentals, "paper"));
  await world.until("2026-03-13T09:00:00Z");
  await payOut(script);
  await world.until("2026-03-13T18:00:00Z");
  assert.ok(!isUp(sweep), "its money is used up");
  const { arrears } = await world.done(people.ben, "GET", "/v0/arrears/");
  assert.ok(arrears !== null, "what is stored costs on");
  world.tell(
    "Ben",
    `has nothing left since ${minuteOf(arrears.began_at)}; data is kept until ${minuteOf(arrears.delete_at)}`,
  );
  await audit(script);
  await world.until("2026-03-14T09:00:00Z");
  await grant(world, people.ben, 30);
  await world.until("2026-03-14T12:00:00Z");
  assert.equal((await world.done(people.ben, "GET", "/v0/arrears/")).arrears, null);
  await setState(script, sweep, "running");
  await world.until("2026-03-15T10:00:00Z");
  await rent(script, people.ada, { label: "serve", host: script.hosts.northlight, gpus: 1, disk: 30 });
  await world.until("2026-03-16T12:00:00Z");
  await destroy(script, sweep);
}

/** 17 to 20 March. */
async function outageAndRefund(script: Script): Promise<void> {
  const { world, hosts, rentals, outages, people } = script;
  await world.until("2026-03-17T02:00:00Z");
  world.tell("Northlight", "loses its network connection");
  const outage = await world.outage(hosts.northlight, { leaseMs: LEASE_MS, until: "2026-03-17T03:30:00Z" });
  outages.push({ host: hosts.northlight, ...outage });
  world.tell("Northlight", "is back after 90 minutes, which cost nobody anything; the last ten before are given back");
  await world.until("2026-03-17T05:00:00Z");
  await audit(script);
  await world.until("2026-03-20T09:00:00Z");
  await payOut(script);
  await world.until("2026-03-20T10:00:00Z");
  const render = named(rentals, "render");
  const before = await creditOf(script, people.dora);
  await destroy(script, render);
  await world.runLoop("settle-runs");
  await world.runLoop("return-deposits");
  const back = (await creditOf(script, people.dora)) - before;
  world.tell("Dora", `gets $${back.toFixed(2)} of the deposit back, as render ends early`);
}

/** 20 March to 3 April. */
async function dearerAndOver(script: Script): Promise<void> {
  const { world, people, hosts, rentals, volumes } = script;
  const serve = named(rentals, "serve");
  await list(world, { owner: people.northlight, host: hosts.northlight, listing: NORTHLIGHT_LATER });
  await world.until("2026-03-21T09:00:00Z");
  await acceptIncrease(script, serve);
  await world.until("2026-03-27T09:00:00Z");
  await audit(script);
  await rent(script, people.lab, { label: "eval", host: hosts.harbour, gpus: 1, disk: 20 });
  await payOut(script);
  await world.until("2026-03-28T12:00:00Z");
  for (const volume of volumes) await remove(script, volume);
  await world.until("2026-03-29T12:00:00Z");
  await destroy(script, serve);
  await world.until("2026-04-02T12:00:00Z");
  world.tell("Office", "the month is over: invoices are issued");
  await audit(script);
  await destroy(script, named(rentals, "eval"));
  await world.until("2026-04-03T12:00:00Z");
  await payOut(script);
  await audit(script);
}
