// Who gained what, by what really happened. A consistent book of a fraud is a failure here.
import { isFrozen, keptCents, type Broken, type Case, type Person, type Rental, type Stored } from "./case.ts";
import type { Books } from "./books.ts";
import type { Prices } from "../month/facts.ts";
import type { Stretch } from "../month/host.ts";

const HOUR_MS = 3_600_000n;
const MONTH_MS = 30n * 24n * HOUR_MS;
const GB = 1_000_000_000n;
const DOLLAR = 1_000_000_000n;

/** The most that rounding and the milliseconds between two clocks may come to for one contract. */
export const DUST = DOLLAR / 1000n;
/** The most that a renter may have run on an honest host without paying: nothing but dust. */
const FREE_RIDE_MAX = DUST;
/** The most that all people of a seed together may have beyond the money paid in and granted. */
export const INVENTED_MAX = DOLLAR / 100n;
/** The most that the house may pay out beyond the cash that came in and stayed. */
export const HOUSE_LOSS_MAX = DOLLAR / 100n;
/**
 * A worker group may rent at this multiple of the usual price: what a search showed when it was made, or what the open market
 * asks for a GPU of the model, since the asks of fewer than three hosts are not believed.
 */
const [GROUP_PRICE_MULTIPLE, USUAL_GPU_PRICE] = [3n, (45n * DOLLAR) / 100n];
/** The highest price of the disk of a group's worker: the operator's ceiling, even above the price in a search. */
const WORKER_DISK_PRICE = DOLLAR;
/** The highest price of a GB of traffic, even when a host asks more. */
const TRAFFIC_CEILING = (15n * DOLLAR) / 100n;
/** A host that does not confirm a stop is paid for this time after the request: nobody can tell whether the container ran on. */
const STOP_GRACE_MS = 45_000;
/** After a dispute its payer's runs are stopped within this time, and an honest host is not paid for it. */
const DISPUTE_STOP_MS = 45_000;
/** Counts are stored once a minute: time since the last one is not charged when a payment goes back. */
const DISPUTE_UNCOUNTED_MS = 60_000;
/** The longest time paid for a run that a host only claims, without evidence of its start. */
const UNPROVEN_MS = 60_000n;
/** The most that invented traffic may cost, by the default limit: this at once, and this many times the hourly price in an hour. */
const [TRAFFIC_BASE, TRAFFIC_HOURS] = [2n * DOLLAR, 4n];
/** A run that was lost this early has cost too little to be given back in a story. */
const LOSS_JUDGED_FROM_MS = 60_000;

/** The most that a worker of a group may cost for which a search showed these prices. */
export function workerPrices(prices: Prices, gpuCount: number): Prices {
  const usual = USUAL_GPU_PRICE * BigInt(gpuCount);
  const gpu = GROUP_PRICE_MULTIPLE * (prices.gpu > usual ? prices.gpu : usual);
  return { ...prices, gpu, disk: WORKER_DISK_PRICE };
}

/** The most that an instance may cost that came of a standing request for so much an hour; traffic up to the operator's ceiling. */
export function waitingPrices(maxNanos: bigint): Prices {
  return { gpu: maxNanos, disk: WORKER_DISK_PRICE, up: TRAFFIC_CEILING, down: TRAFFIC_CEILING };
}

type Judge = (play: Case, books: Books, nowMs: number) => Broken | undefined;

/** Checks that hold at each moment. */
export function judgeNow(play: Case, books: Books, nowMs: number): Broken | undefined {
  return firstOf([reach, unordered, overcharge, invention, disputedEarnings], play, books, nowMs);
}

/** Checks that hold once everything is over, and hosts were paid. */
export function judgeEnd(play: Case, books: Books, nowMs: number): Broken | undefined {
  const rules = [reach, unordered, overcharge, invention, disputedEarnings, houseLoss, unpaidPay, freeRide, losses];
  return firstOf(rules, play, books, nowMs);
}

function firstOf(judges: readonly Judge[], play: Case, books: Books, nowMs: number): Broken | undefined {
  for (const judge of judges) {
    const broken = judge(play, books, nowMs);
    if (broken !== undefined) return broken;
  }
  return undefined;
}

function reach({ reached }: Case): Broken | undefined {
  const [figures] = reached;
  return figures === undefined ? undefined : { invariant: "Nobody reaches what is not theirs", figures };
}

/** Finds instances that nobody ordered, which must not exist or cost anything. */
function unordered(play: Case, { instances }: Books): Broken | undefined {
  const people = new Map([...play.people.values()].map((person) => [Number(person.id), person]));
  const ordered = new Set([...play.rentals.values()].map(({ id }) => id));
  for (const { id, renterId } of instances) {
    const renter = people.get(renterId);
    if (renter === undefined || ordered.has(id)) continue;
    return { invariant: "Nobody rents what they did not order", figures: `${renter.name} has instance ${id}` };
  }
  return undefined;
}

/** A host earns at most proven work times the price its renter saw. */
function overcharge(play: Case, books: Books, nowMs: number): Broken | undefined {
  for (const rental of play.rentals.values()) {
    const { gpu = 0n, disk = 0n, bwu = 0n, bwd = 0n } = books.charged.get(`instance ${rental.id}`) ?? {};
    const kept = gpu + disk + bwu + bwd - (books.givenBack.get(rental.id) ?? 0n);
    const worth = worthOf(rental, nowMs);
    if (kept <= worth.gpu + worth.disk + worth.traffic + DUST + clockLoss(play, rental)) continue;
    return overchargeOf(
      rental.label,
      `GPU ${text(gpu)} of ${text(worth.gpu)}, disk ${text(disk)} of ${text(worth.disk)}, traffic ${text(bwu + bwd)} of ${text(worth.traffic)}, given back ${text(books.givenBack.get(rental.id) ?? 0n)}`,
    );
  }
  for (const volume of play.stored.values()) {
    const { disk = 0n } = books.charged.get(`volume ${volume.id}`) ?? {};
    const worth = storageWorth(volume, nowMs);
    if (disk > worth + DUST) return overchargeOf(volume.label, `storage ${text(disk)} of ${text(worth)}`);
  }
  return undefined;
}

function overchargeOf(label: string, figures: string): Broken {
  return {
    invariant: "A host earns at most its proven work at the price that its renter saw",
    figures: `${label} was charged more than it was worth: ${figures}`,
  };
}

/**
 * Nobody makes money from nothing: what people have and were paid is what came in, less what administrators took. What they
 * took cannot be taken again when its payment goes back, or when a host fails.
 */
function invention(play: Case, books: Books): Broken | undefined {
  const people = [...play.people.values()];
  const owned = sum(people, ({ id }) => {
    const { credit = 0n, deposits = 0n, earnings = 0n } = books.balances.get(id) ?? {};
    // Who owes walks away.
    return positive(credit) + positive(deposits) + positive(earnings);
  });
  const paidOut = sum(people, ({ id }) => books.paidOut.get(id) ?? 0n);
  const given = sum(people, ({ grantedNanos, byHand }) => grantedNanos + byHand.givenNanos);
  const givenBack = sum(play.rentals.values(), ({ id }) => books.givenBack.get(id) ?? 0n);
  const wanted = sum(people, returnedOf) + givenBack;
  const taken = positive(sum(people, ({ byHand }) => byHand.takenNanos) - wanted);
  const cameIn = sum(people, cashOf) + given - taken;
  if (owned + paidOut <= cameIn + INVENTED_MAX) return undefined;
  return {
    invariant: "Nobody makes money from nothing",
    figures: `the people have ${text(owned)} and were paid ${text(paidOut)}; ${text(cameIn)} came in and stayed`,
  };
}

/** Granted credit is no cash: the house pays out what came in, what it gave in cash itself, and what it released. */
function houseLoss(play: Case, books: Books): Broken | undefined {
  const people = [...play.people.values()];
  const paidOut = sum(people, ({ id }) => books.paidOut.get(id) ?? 0n);
  const cash = sum(people, cashOf) + sum(people, ({ byHand }) => byHand.givenNanos + byHand.releasedNanos);
  if (paidOut <= cash + HOUSE_LOSS_MAX) return undefined;
  return {
    invariant: "The house pays out no more than the cash that came in",
    figures: `hosts are paid ${text(paidOut)}; ${text(cash)} of cash came in and stayed`,
  };
}

/** A frozen account, and one whose payouts an administrator holds, is paid nothing. */
function unpaidPay({ people }: Case, books: Books): Broken | undefined {
  for (const person of people.values()) {
    const paid = books.paidOut.get(person.id) ?? 0n;
    if (paid === 0n) continue;
    const figures = `${person.name} was paid ${text(paid)}`;
    // Hosts are paid after everything else has happened.
    if (isFrozen(person)) return { invariant: "A frozen account is paid nothing", figures };
    if (person.byHand.payHoldId !== undefined) {
      return { invariant: "A host whose payouts are held is paid nothing", figures };
    }
  }
  return undefined;
}

/**
 * A dispute takes out of a host's earnings at most the payments there of its payer, or of somebody whom the payer's
 * credit reached, and no more than the payer disputes: nothing once the dispute is won. An honest host keeps its other
 * earnings, and owes nothing.
 */
function disputedEarnings(play: Case, books: Books): Broken | undefined {
  const invariant = "A dispute takes from a host at most what the disputed card paid it";
  const people = [...play.people.values()];
  for (const { hostId, payerId, nanos } of books.takenBack) {
    const [host, payer] = [hostId, payerId].map((id) => people.find((one) => Number(one.id) === id));
    if (host === undefined || payer === undefined) continue;
    const payers = reachedBy(payer, people);
    const [paid, disputed] = [sum(payers, (one) => paidTo(play, books, { host, payer: one })), returnedOf(payer)];
    if (nanos <= least(paid, disputed)) continue;
    const figures = `${text(nanos)} of ${host.name}'s earnings; ${payers.map(({ name }) => name).join(" and ")} paid ${text(paid)} there and ${payer.name} disputes ${text(disputed)}`;
    return { invariant, figures };
  }
  for (const { owner, host } of play.machines.values()) {
    const { earnings = 0n } = books.balances.get(owner.id) ?? {};
    if (host.isHonest && earnings < 0n) return { invariant, figures: `${owner.name} owes ${text(-earnings)}` };
  }
  return undefined;
}

/** A person, and everybody to whom credit of that person may have come. */
function reachedBy(payer: Person, people: readonly Person[]): readonly Person[] {
  const found = new Set([payer]);
  for (const person of found) {
    for (const one of people) if (person.sentTo.has(one.name)) found.add(one);
  }
  return [...found];
}

/** Charges to a renter for machines and storage of a host. */
function paidTo(play: Case, { charged }: Books, { host, payer }: { host: Person; payer: Person }): bigint {
  const machines = [...play.machines.values()].filter(({ owner }) => owner === host).map((machine) => machine.host);
  const rentals = [...play.rentals.values()].map((one) => ({ one, contract: `instance ${one.id}` }));
  const volumes = [...play.stored.values()].map((one) => ({ one, contract: `volume ${one.id}` }));
  const own = [...rentals, ...volumes].filter(({ one }) => one.renter === payer && machines.includes(one.host));
  return sum(own, ({ contract }) => sum(Object.values(charged.get(contract) ?? {}), (amount) => amount));
}

/** Checks that renters pay for the work of honest hosts. */
function freeRide(play: Case, books: Books, nowMs: number): Broken | undefined {
  for (const rental of play.rentals.values()) {
    if (!rental.host.isHonest || rental.isPrepaid || rental.renter.id === hostIdOf(play, rental)) continue;
    const { gpu = 0n } = books.charged.get(`instance ${rental.id}`) ?? {};
    const worth = worthOf(rental, nowMs).gpuDue;
    if (worth <= gpu + FREE_RIDE_MAX + disputeLoss(rental) + clockLoss(play, rental)) continue;
    return {
      invariant: "Nobody gains more than they pay for",
      figures: `${rental.label} ran for ${text(worth)} on an honest host and was charged ${text(gpu)}`,
    };
  }
  return undefined;
}

/** The cost, paid by nobody, of a run from the moment its card payment went back until it is surely stopped. */
function disputeLoss(rental: Rental): bigint {
  const disputes = rental.renter.payments.filter(
    ({ isDisputed, isDecided, refundedCents }) => isDisputed || isDecided || refundedCents > 0,
  );
  return (BigInt(disputes.length * (DISPUTE_STOP_MS + DISPUTE_UNCOUNTED_MS)) * dearestOf(rental)) / HOUR_MS;
}

/** A run that one server begins and another one ends is as short, or as long, as the clocks of both say. */
function clockLoss({ clocksDifferMs }: Case, rental: Rental): bigint {
  return (BigInt(clocksDifferMs * runsOf(rental).length) * dearestOf(rental)) / HOUR_MS;
}

function dearestOf({ agreed }: Rental): bigint {
  return agreed.reduce((most, { gpuDue }) => (gpuDue > most ? gpuDue : most), 0n);
}

/**
 * A container that its host lost is a fault of the host, for which the renter gets something back. What was being stopped
 * at that time is no loss, and a host from which a dispute took what this renter paid has nothing of it to give back.
 */
function losses(play: Case, books: Books): Broken | undefined {
  const stoppedOf = new Map(books.instances.map(({ id, stopped }) => [id, stopped]));
  const people = [...play.people.values()];
  for (const rental of play.rentals.values()) {
    const { gpu = 0n } = books.charged.get(`instance ${rental.id}`) ?? {};
    const stopped = stoppedOf.get(rental.id) ?? [];
    const lostMs = rental.lossesMs.find((ms) => ranBefore(rental, ms) && !stopped.some((one) => isWithin(one, ms)));
    const hostId = hostIdOf(play, rental);
    if (lostMs === undefined || gpu <= DUST || rental.renter.id === hostId) continue;
    if ((books.givenBack.get(rental.id) ?? 0n) > 0n) continue;
    const takers = books.takenBack.filter((taken) => taken.hostId === hostId).map(({ payerId }) => payerId);
    const payers = people.filter(({ id }) => takers.includes(Number(id)));
    if (payers.some((payer) => reachedBy(payer, people).includes(rental.renter))) continue;
    return {
      invariant: "What a host loses is given back to its renter",
      figures: `${rental.label} was charged ${text(gpu)}, its host lost its container, and nothing was given back`,
    };
  }
  return undefined;
}

function isWithin({ fromMs, untilMs = Infinity }: Stretch, ms: number): boolean {
  return fromMs <= ms && ms < untilMs;
}

function ranBefore(rental: Rental, ms: number): boolean {
  const isOrdered = rental.orders.some(
    ({ fromMs, untilMs = Infinity }) => fromMs + LOSS_JUDGED_FROM_MS < ms && ms < untilMs,
  );
  return (
    isOrdered && runsOf(rental).some(({ fromMs, untilMs }) => untilMs === ms && untilMs - fromMs > LOSS_JUDGED_FROM_MS)
  );
}

function hostIdOf(play: Case, { host }: Rental): number | undefined {
  return [...play.machines.values()].find((machine) => machine.host === host)?.owner.id;
}

type Worth = { readonly gpu: bigint; readonly gpuDue: bigint; readonly disk: bigint; readonly traffic: bigint };

/** The worth of the work really done for the renter within the order, at the prices that the renter was shown. */
function worthOf(rental: Rental, nowMs: number): Worth {
  const { agreed, orders, diskGb, rentedMs, destroyedMs = nowMs } = rental;
  const graceMs = rental.host.isHonest ? 0 : STOP_GRACE_MS;
  const runs = withGrace(runsOf(rental), graceMs);
  const dearest = (pick: (prices: Prices) => bigint) =>
    agreed.map(({ prices }) => pick(prices)).reduce((most, price) => (price > most ? price : most), 0n);
  const unprovenMs = rental.host.fakeLoadMs === 0 ? 0n : UNPROVEN_MS * BigInt(runs.length);
  let [gpu, due] = [unprovenMs * dearest((prices) => prices.gpu), 0n];
  for (const [index, { fromMs, prices, gpuDue }] of agreed.entries()) {
    const held = { fromMs, untilMs: agreed[index + 1]?.fromMs ?? nowMs };
    for (const order of orders) {
      const { fromMs: orderedMs, untilMs: orderedUntilMs } = order;
      const wanted = { fromMs: orderedMs, untilMs: orderedUntilMs && orderedUntilMs + graceMs };
      for (const run of runs) {
        const ms = overlapMs([held, wanted, run], nowMs);
        gpu += ms * prices.gpu;
        due += ms * gpuDue;
      }
    }
  }
  const diskMs = BigInt(Math.max(0, destroyedMs - rentedMs));
  const [sent, received] = [bytesOf(rental, runs, "sentPerSecond"), bytesOf(rental, runs, "receivedPerSecond")];
  const invented = rental.host.inventedBytes(rental.id);
  return {
    gpu: gpu / HOUR_MS,
    gpuDue: due / HOUR_MS,
    disk: (diskMs * BigInt(diskGb) * dearest(({ disk }) => disk)) / MONTH_MS,
    traffic: least(
      ((sent + invented) * dearest(({ up }) => up) + (received + invented) * dearest(({ down }) => down)) / GB,
      [
        TRAFFIC_BASE + TRAFFIC_HOURS * (dearest((prices) => prices.gpu) + gpu / HOUR_MS),
        ...rental.trafficLimits,
      ].reduce((most, limit) => (limit > most ? limit : most)),
    ),
  };
}

function runsOf({ host, id }: Rental): readonly Stretch[] {
  return host.runs.filter(({ instanceId }) => instanceId === id).flatMap(({ stretches }) => stretches);
}

/** Runs prolonged by a grace after each end, unless the next one has begun. */
function withGrace(runs: readonly Stretch[], graceMs: number): readonly Stretch[] {
  return runs.map(({ fromMs, untilMs }, place) => {
    if (untilMs === undefined) return { fromMs, untilMs };
    const nextMs = Math.min(...runs.flatMap((run, other) => (other > place ? [run.fromMs] : [])));
    return { fromMs, untilMs: Math.min(untilMs + graceMs, nextMs) };
  });
}

function bytesOf({ host, id }: Rental, runs: readonly Stretch[], rate: "sentPerSecond" | "receivedPerSecond"): bigint {
  let bytes = 0;
  for (const flow of host.flows) {
    if (flow.instanceId !== id) continue;
    for (const run of runs) bytes += (Number(overlapMs([flow, run], flow.untilMs)) * flow[rate]) / 1000;
  }
  return BigInt(Math.ceil(bytes));
}

function overlapMs(stretches: readonly Stretch[], nowMs: number): bigint {
  const fromMs = Math.max(...stretches.map((stretch) => stretch.fromMs));
  const untilMs = Math.min(...stretches.map((stretch) => stretch.untilMs ?? nowMs));
  return BigInt(Math.max(0, untilMs - fromMs));
}

function storageWorth({ sizeGb, price, fromMs, deletedMs }: Stored, nowMs: number): bigint {
  return (BigInt((deletedMs ?? nowMs) - fromMs) * BigInt(sizeGb) * price) / MONTH_MS;
}

/** Card payments of a person, less those taken back. */
function cashOf({ payments }: Person): bigint {
  return sum(payments, (payment) => (payment.isDisputed ? 0n : nanosOf(keptCents(payment))));
}

/** Card payments that a person disputes, or has got back by a dispute or a refund. */
function returnedOf({ payments }: Person): bigint {
  return sum(payments, ({ cents, isDisputed, refundedCents }) => nanosOf(isDisputed ? cents : refundedCents));
}

function nanosOf(cents: number): bigint {
  return BigInt(cents) * (DOLLAR / 100n);
}

function sum<T>(list: Iterable<T>, amountOf: (one: T) => bigint): bigint {
  let total = 0n;
  for (const one of list) total += amountOf(one);
  return total;
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

function positive(amount: bigint): bigint {
  return amount > 0n ? amount : 0n;
}

function text(nanos: bigint): string {
  return `$${(Number(nanos) / 1e9).toFixed(6)}`;
}
