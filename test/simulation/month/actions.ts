// Actions of the people of the scripted month over HTTP, and the script's notes of them.
import assert from "node:assert/strict";
import { nanosOf, type Audit, type Outage, type Prices, type Rental, type Volume } from "./facts.ts";
import type { MonthHost, Stretch } from "./host.ts";
import type { MonthWorld, Person } from "./world.ts";

/** How long an image takes to arrive. */
const LOADING_MS = 120_000;
/** The time in which a host stops an evicted instance: less than the 45 seconds that cost its renter something. */
const STOPPING_MS = 10_000;

/** Prices in dollars: an hour of a GPU, a GB of disk and month, a GB sent and received. */
type Listing = {
  readonly gpu: number;
  readonly disk: number;
  readonly up: number;
  readonly down: number;
  readonly end: string;
};
export const HARBOUR: Listing = { gpu: 0.4, disk: 0.15, up: 0.02, down: 0.01, end: "2026-06-01T00:00:00Z" };
export const NORTHLIGHT: Listing = { gpu: 0.6, disk: 0.12, up: 0.03, down: 0, end: "2026-03-25T00:00:00Z" };
export const NORTHLIGHT_LATER: Listing = { ...NORTHLIGHT, gpu: 0.75, end: "2026-05-31T00:00:00Z" };

export type Month = {
  readonly world: MonthWorld;
  readonly people: {
    readonly ada: Person;
    readonly ben: Person;
    readonly dora: Person;
    readonly lab: Person;
    readonly harbour: Person;
    readonly northlight: Person;
  };
  readonly hosts: { readonly harbour: MonthHost; readonly northlight: MonthHost };
  readonly rentals: readonly Rental[];
  readonly volumes: readonly Volume[];
  readonly outages: readonly Outage[];
  readonly audits: readonly Audit[];
};

/** A month while it is played. */
export type Script = Month & {
  readonly rentals: Rental[];
  readonly volumes: Volume[];
  readonly outages: Outage[];
  readonly audits: Audit[];
};

type Ask = { label: string; host: MonthHost; gpus: number; disk: number; bid?: number };

export async function rent(
  script: Script,
  payer: Person,
  { label, host, gpus, disk, bid: price }: Ask,
): Promise<Rental> {
  const { world, rentals, hosts } = script;
  const offerId = (await world.offersOf(host)).get(gpus);
  const body = { image: "busybox", label, disk, ...(price === undefined ? {} : { price }) };
  const answer = await world.done(payer, "PUT", `/v0/asks/${offerId}/`, body);
  const listing = host === hosts.harbour ? HARBOUR : NORTHLIGHT;
  const fromMs = world.clock.now().getTime();
  const rental: Rental = {
    id: Number(answer.new_contract),
    label,
    payer,
    host,
    diskGb: disk,
    agreed: [{ fromMs, prices: pricesOf(listing, price ?? listing.gpu * gpus) }],
    reserved: undefined,
    destroyedMs: undefined,
  };
  rentals.push(rental);
  const kind = price === undefined ? "at the listed price" : "by a bid";
  world.tell(
    payer.name,
    `rents ${gpus} GPU for ${label} ${kind}: $${(price ?? listing.gpu * gpus).toFixed(2)} an hour`,
  );
  host.loading.add(rental.id);
  world.clock.jump(STOPPING_MS);
  await world.obey();
  world.clock.jump(LOADING_MS - STOPPING_MS);
  host.loading.delete(rental.id);
  await world.obey();
  assert.ok(isUp(rental), `${label} does not run`);
  return rental;
}

function pricesOf({ disk, up, down }: Listing, dollarsPerHour: number): Prices {
  return { gpu: nanosOf(dollarsPerHour), disk: nanosOf(disk), up: nanosOf(up), down: nanosOf(down) };
}

export async function bid({ world }: Script, rental: Rental, dollars: number): Promise<void> {
  await world.done(rental.payer, "PUT", `/v0/instances/bid_price/${rental.id}/`, { client_id: "me", price: dollars });
  const { prices } = lastOf(rental.agreed);
  rental.agreed.push({ fromMs: world.clock.now().getTime(), prices: { ...prices, gpu: nanosOf(dollars) } });
  world.tell(rental.payer.name, `bids $${dollars.toFixed(2)} an hour for ${rental.label}`);
  await world.obey();
}

export async function setState({ world }: Script, rental: Rental, state: "running" | "stopped"): Promise<void> {
  await world.done(rental.payer, "PUT", `/v0/instances/${rental.id}/`, { state });
  const what = state === "running" ? `starts ${rental.label} again` : `stops ${rental.label}; its disk is kept`;
  world.tell(rental.payer.name, what);
  await world.obey();
  assert.equal(isUp(rental), state === "running");
}

export async function destroy({ world }: Script, rental: Rental): Promise<void> {
  await world.done(rental.payer, "DELETE", `/v0/instances/${rental.id}/`, {});
  rental.destroyedMs = world.clock.now().getTime();
  world.tell(rental.payer.name, `destroys ${rental.label}`);
  await world.obey();
}

export async function prepay({ world }: Script, rental: Rental, dollars: number): Promise<void> {
  const path = `/v0/instances/prepay/${rental.id}/`;
  const { discount_rate: rate } = await world.done(rental.payer, "PUT", path, { amount: dollars });
  const discountPpm = Math.round(rate * 1e6);
  rental.reserved = { fromMs: world.clock.now().getTime(), discountPpm, dollars };
  world.tell(rental.payer.name, `reserves ${rental.label}: $${dollars} in advance, ${(rate * 100).toFixed(1)} % less`);
}

export async function acceptIncrease({ world }: Script, rental: Rental): Promise<void> {
  const { payer, agreed } = rental;
  const list = await world.done(payer, "GET", "/v0/instances/pending-price-increases/");
  const [asked] = list.pending_price_increases;
  assert.equal(asked.contract_id, rental.id);
  const body = { pending_price_increase_id: asked.pending_price_increase_id };
  await world.done(payer, "PUT", "/v0/instances/accept-price-increase/", body);
  const { prices } = lastOf(agreed);
  const gpu = nanosOf(NORTHLIGHT_LATER.gpu);
  agreed.push({ fromMs: Date.parse(NORTHLIGHT.end), prices: { ...prices, gpu } });
  world.tell(
    payer.name,
    `accepts $${NORTHLIGHT_LATER.gpu.toFixed(2)} an hour for ${rental.label} from ${NORTHLIGHT.end.slice(0, 10)}`,
  );
}

export async function keep(
  script: Script,
  payer: Person,
  { host, sizeGb, price }: Pick<Volume, "host" | "sizeGb"> & { price: number },
) {
  const { world, volumes } = script;
  const { offers } = await world.done(payer, "POST", "/v0/volumes/search/", {});
  const offer = offers.find((one: { machine_id: number }) => one.machine_id === host.machineId);
  const { id } = await world.done(payer, "PUT", "/v0/volumes/", { id: offer.id, size: sizeGb });
  const fromMs = world.clock.now().getTime();
  volumes.push({ id, payer, host, sizeGb, price: nanosOf(price), fromMs, deletedMs: undefined });
  world.tell(payer.name, `rents a volume of ${sizeGb} GB`);
  await world.obey();
}

export async function remove({ world }: Script, volume: Volume): Promise<void> {
  await world.done(volume.payer, "DELETE", "/v0/volumes/", { id: volume.id });
  volume.deletedMs = world.clock.now().getTime();
  world.tell(volume.payer.name, "deletes the volume");
  await world.obey();
}

type Offered = { owner: Person; host: MonthHost; listing: Listing };

export async function list(world: MonthWorld, { owner, host, listing }: Offered): Promise<void> {
  await world.done(owner, "PUT", "/v0/machines/create_asks/", {
    machine: host.machineId,
    price_gpu: listing.gpu,
    price_disk: listing.disk,
    price_inetu: listing.up,
    price_inetd: listing.down,
    price_min_bid: 0.1,
    min_chunk: 1,
    end_date: Date.parse(listing.end) / 1000,
    credit_discount_max: 0.4,
    vol_size: 200,
    vol_price: 0.1,
  });
  world.tell(
    owner.name,
    `lists ${host.gpus.length} GPUs at $${listing.gpu.toFixed(2)} an hour until ${listing.end.slice(0, 10)}`,
  );
}

export async function grant(world: MonthWorld, person: Person, amount: number): Promise<void> {
  await world.done(world.admin, "POST", "/v0/admin/credit/", { email: person.email, amount });
  world.tell(person.name, `pays in $${amount}`);
}

/** Payouts to hosts, sent by hand as where no provider does it. */
export async function payOut({ world }: Script): Promise<void> {
  const nowS = world.clock.now().getTime() / 1000;
  const { payouts } = await world.done(world.admin, "GET", "/v0/admin/payouts/?state=pending");
  for (const { id, email, amount, due_at: dueAt } of payouts) {
    if (dueAt > nowS) continue;
    const body = { state: "paid", reference: `PP-${id}` };
    await world.done(world.admin, "PUT", `/v0/admin/payouts/${id}/`, body);
    world.tell("Office", `pays $${amount.toFixed(2)} to ${String(email).split("@")[0]}`);
  }
}

export async function audit({ world, audits }: Script): Promise<void> {
  const answer = await world.done(world.admin, "GET", "/v0/admin/audit/?full=true");
  const differences = answer.checks.flatMap((check: { differences: readonly unknown[] }) => check.differences);
  audits.push({ at: world.clock.now(), isSound: answer.is_sound, differences });
  world.tell(
    "Office",
    `audits the books: ${answer.is_sound === true ? "nothing differs" : `${differences.length} differ`}`,
  );
}

type Traffic = { from: string; until: string; received: number; sent: number };

/** Traffic in bytes a second between two times, while the instance runs. */
export function flow({ id, host }: Rental, { from, until, received, sent }: Traffic): void {
  host.flows.push({
    instanceId: id,
    fromMs: Date.parse(from),
    untilMs: Date.parse(until),
    receivedPerSecond: received,
    sentPerSecond: sent,
  });
}

/** True while the host runs the instance. */
export function isUp({ id, host }: Rental): boolean {
  return host.runs.some((run) => run.instanceId === id && run.stretches.some(({ untilMs }) => untilMs === undefined));
}

export async function creditOf({ world }: Script, person: Person): Promise<number> {
  return (await world.done(person, "GET", "/v0/users/current/")).credit;
}

/** The time at which its host stopped the instance last. */
export function stoppedMs({ id, host }: Rental): number {
  return Math.max(...host.runs.flatMap((run) => (run.instanceId === id ? run.stretches : [])).map(untilOf));
}

function untilOf({ untilMs = 0 }: Stretch): number {
  return untilMs;
}

export function timeOf(ms: number): string {
  return new Date(ms).toISOString().slice(11, 16);
}

export function named(rentals: readonly Rental[], label: string): Rental {
  const found = rentals.find((one) => one.label === label);
  assert.ok(found, label);
  return found;
}

function lastOf<T>(list: readonly T[]): T {
  const last = list.at(-1);
  assert.ok(last);
  return last;
}

export function minuteOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
}
