// Plays seeds: what each does is drawn from its own numbers, and what happens is judged after each step.
import { newCase, wasFrozen, type Args, type Case, type Deed } from "./case.ts";
import { accountDeeds } from "./account-deeds.ts";
import { adminDeeds } from "./admin-deeds.ts";
import { readBooks, type Books } from "./books.ts";
import { NOTHING, pickerOf, type DeedRules, type Picker } from "./deeds.ts";
import { fleetDeeds } from "./fleet-deeds.ts";
import { freezeDeeds } from "./freeze-deeds.ts";
import { keyDeeds } from "./key-deeds.ts";
import { lieDeeds } from "./lie-deeds.ts";
import { limitDeeds } from "./limit-deeds.ts";
import { networkDeeds } from "./network-deeds.ts";
import { queueDeeds } from "./queue-deeds.ts";
import { storageDeeds } from "./storage-deeds.ts";
import { hostDeeds } from "./host-deeds.ts";
import { innerKeyDeeds } from "./inner-key-deeds.ts";
import { judgeEnd, judgeNow, waitingPrices, workerPrices } from "./judge.ts";
import { renterDeeds } from "./renter-deeds.ts";
import { presentHosts, type CheatsWorld } from "./world.ts";
import { seededRandom } from "../../support/random.ts";

const MINUTE_MS = 60_000;
const RULES: DeedRules = {
  ...hostDeeds,
  ...lieDeeds,
  ...renterDeeds,
  ...limitDeeds,
  ...storageDeeds,
  ...fleetDeeds,
  ...accountDeeds,
  ...adminDeeds,
  ...freezeDeeds,
  ...keyDeeds,
  ...innerKeyDeeds,
  ...queueDeeds,
  ...networkDeeds,
};
/** All kinds of deeds. */
export const KINDS: readonly string[] = Object.keys(RULES);

/** How long a step lasts; most are short. */
const PASSES_MS = [2_000, 10_000, 45_000, 45_000, 5 * MINUTE_MS, 5 * MINUTE_MS, 20 * MINUTE_MS, 70 * MINUTE_MS];
/** The deeds with which each seed begins, so that there is a market. */
const OPENING = ["join", "pay", "look"] as const;
const STEPS = 25;
/** The time after which all charges are made, and hosts that never confirm are given up. */
const WINDING_UP_MS = 40 * MINUTE_MS;
/** Weeks that money may wait before it is paid out. */
const FRIDAYS = 4;

/** The deeds of a seed in one step, and the time that passes after them. */
export type Step = { readonly deeds: readonly Deed[]; readonly passMs: number };
/** The deeds of one seed, step by step: enough to repeat it. */
export type Script = readonly Step[];

export type Outcome = { readonly play: Case; readonly script: Script };

/** Draws and plays seeds side by side: they share the time that passes, and nothing else. */
export async function playSeeds(
  world: CheatsWorld,
  seeds: readonly number[],
  kinds = KINDS,
): Promise<readonly Outcome[]> {
  const plays = seeds.map((seed) => ({
    play: newCase(String(seed), { clocksDifferMs: world.aheadMs }),
    pick: pickerOf(seededRandom(seed)),
  }));
  const time = pickerOf(seededRandom(seeds[0] ?? 0));
  const scripts = plays.map((): Step[] => []);
  const cases = plays.map(({ play }) => play);
  for (let index = 0; index < STEPS; index += 1) {
    const passMs = index < OPENING.length ? 1000 : time.one(PASSES_MS);
    const drawn = plays.map(({ play, pick }) => draw(play, pick, { index, kinds }));
    for (const [place, deeds] of drawn.entries()) scripts[place]?.push({ deeds, passMs });
    await step(world, cases, drawn, passMs);
  }
  await windUp(world, cases);
  return cases.map((play, place) => ({ play, script: scripts[place] ?? [] }));
}

/** Plays scripts that last equally long side by side. */
export async function playScripts(world: CheatsWorld, scripts: readonly Script[]): Promise<readonly Case[]> {
  const cases = scripts.map(() => newCase(world.newName("again"), { clocksDifferMs: world.aheadMs }));
  for (const [index, { passMs }] of (scripts[0] ?? []).entries()) {
    const deeds = scripts.map((script) => script[index]?.deeds ?? []);
    if (cases.every(({ broken }) => broken !== undefined)) break;
    await step(world, cases, deeds, passMs);
  }
  await windUp(world, cases);
  return cases;
}

function draw(
  play: Case,
  pick: Picker,
  { index, kinds }: { readonly index: number; readonly kinds: readonly string[] },
): readonly Deed[] {
  const opening = OPENING[index];
  const label = `#${index + 1}`;
  const kind = opening ?? drawKind(play, pick, kinds);
  const args = RULES[kind]?.draw(play, pick, label);
  return args === undefined ? [] : [{ kind, label, args }];
}

function drawKind(play: Case, pick: Picker, kinds: readonly string[]): string {
  // A deed that makes no sense now is drawn again, a few times.
  for (let attempt = 0; attempt < 8; attempt += 1) {
    let left = pick.number() * kinds.reduce((sum, kind) => sum + (RULES[kind]?.weight ?? 0), 0);
    const kind = kinds.find((each) => (left -= RULES[each]?.weight ?? 0) < 0) ?? "look";
    if (RULES[kind]?.draw(play, pick, "") !== undefined) return kind;
  }
  return "look";
}

async function step(
  world: CheatsWorld,
  cases: readonly Case[],
  deeds: readonly (readonly Deed[])[],
  passMs: number,
): Promise<void> {
  const going = cases.filter(({ broken }) => broken === undefined);
  await Promise.all(
    cases.map(async (play, place) => {
      if (play.broken !== undefined) return;
      for (const deed of deeds[place] ?? []) await act(world, play, deed);
    }),
  );
  await world.settled();
  await world.match(going);
  await world.obey(going);
  await world.pass(going, passMs);
  for (const play of going) play.story.push({ kind: "time", ms: passMs });
  await judge(world, going, judgeNow);
}

async function act(world: CheatsWorld, play: Case, deed: Deed): Promise<void> {
  const rule = RULES[deed.kind];
  if (rule === undefined) throw new Error(`there is no deed ${deed.kind}`);
  const outcome = await rule.act(world, play, deed);
  if (outcome === NOTHING) return;
  play.done.push(deed);
  play.story.push({ kind: "deed", sentence: `(${deed.label}) ${rule.tell(deed.args)}`, outcome });
}

type Judge = (play: Case, books: Books, nowMs: number) => Case["broken"];

async function judge(world: CheatsWorld, cases: readonly Case[], rule: Judge): Promise<void> {
  const books = await readBooks(world, cases);
  for (const play of cases) {
    adoptWorkers(play, books);
    adoptClaims(play, books);
    play.broken ??= rule(play, books, world.nowMs());
  }
}

/** Adopts the workers that a group has rented: rentals at the price that its owner could expect. */
function adoptWorkers(play: Case, books: Books): void {
  for (const fleet of play.fleets.values()) {
    for (const worker of books.workers) {
      const label = `worker ${worker.id}`;
      if (worker.endpointId !== fleet.endpointId || play.rentals.has(label)) continue;
      if (fleet.isNarrow) play.reached.push(`A key that may do misc alone rented an instance, by a group of workers`);
      const { id, fromMs, diskGb } = worker;
      const { renter, hostName, machine, gpuCount } = fleet;
      if (wasFrozen(renter, fromMs)) play.reached.push(`The group of ${renter.name}, whose account is frozen, rented`);
      const prices = workerPrices(fleet.prices, gpuCount);
      play.rentals.set(label, {
        ...{ label, id, renter, host: machine.host, hostName, diskGb, rentedMs: fromMs },
        ...{ agreed: [{ fromMs, prices, gpuDue: 0n }], orders: [{ fromMs, untilMs: undefined }] },
        ...{
          destroyedMs: undefined,
          isPrepaid: true,
          lossesMs: [],
          trafficLimits: [],
          innerKey: undefined,
          isStoppedByKey: false,
        },
      });
    }
  }
}

/** Adopts the rentals that standing requests made: no later than their deadline, and at no higher price. */
function adoptClaims(play: Case, { claims, instances }: Books): void {
  for (const { requestId, instanceId } of claims) {
    const request = [...play.waiting.values()].find(({ id }) => id === requestId);
    const made = instances.find(({ id }) => id === instanceId);
    const label = `instance ${instanceId}`;
    if (request === undefined || made === undefined || play.rentals.has(label)) continue;
    const { renter, machine, hostName, gpuCount, untilMs, cancelledMs = untilMs } = request;
    const { fromMs, diskGb } = made;
    if (fromMs > untilMs || fromMs > cancelledMs) play.reached.push(`${request.label} rented although it was over`);
    if (wasFrozen(renter, fromMs)) play.reached.push(`${request.label} of ${renter.name} rented in a frozen account`);
    const gpuDue = machine.cheapestGpu * BigInt(gpuCount);
    play.rentals.set(label, {
      ...{ label, id: instanceId, renter, host: machine.host, hostName, diskGb, rentedMs: fromMs },
      ...{
        agreed: [{ fromMs, prices: waitingPrices(request.maxNanos), gpuDue }],
        orders: [{ fromMs, untilMs: undefined }],
      },
      ...{
        destroyedMs: undefined,
        isPrepaid: false,
        lossesMs: [],
        trafficLimits: [],
        innerKey: undefined,
        isStoppedByKey: false,
      },
    });
  }
}

/** Ends the seeds: all rentals are destroyed, time passes, and hosts are paid. */
async function windUp(world: CheatsWorld, cases: readonly Case[]): Promise<void> {
  const going = cases.filter(({ broken }) => broken === undefined);
  await part(cases.filter((play) => !going.includes(play)));
  if (going.length === 0) return;
  await Promise.all(going.map((play) => endAll(world, play)));
  await world.settled();
  await world.obey(going);
  await world.pass(going, WINDING_UP_MS);
  await part(going);
  for (let index = 0; index < 3; index += 1) await world.sleep(MINUTE_MS * 11);
  await judge(world, going, judgeNow);
  for (let index = 0; index < FRIDAYS; index += 1) await world.passFriday();
  await judge(world, going, judgeEnd);
}

/** The machines of these cases go off the market. */
async function part(cases: readonly Case[]): Promise<void> {
  const hosts = presentHosts(cases);
  await Promise.all(hosts.map((host) => host.disconnect()));
  for (const host of hosts) host.isAway = true;
}

async function endAll(world: CheatsWorld, play: Case): Promise<void> {
  for (const deed of [
    ...[...play.fleets.keys()].map((fleet): [string, Args] => ["dismiss", { fleet }]),
    ...[...play.waiting.keys()].map((request): [string, Args] => ["giveUp", { request }]),
    ...[...play.rentals.keys()].map((rental): [string, Args] => ["destroy", { rental }]),
    ...[...play.stored.keys()].map((volume): [string, Args] => ["discard", { volume }]),
    ...[...play.people.keys()].map((who): [string, Args] => ["tellRefund", { who }]),
  ]) {
    const [kind, args] = deed;
    await act(world, play, { kind, label: "end", args });
  }
}
