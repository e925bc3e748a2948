// The cost of the month, second by second, by the rules of docs/billing.md and by none of the product's own code.
import type { MonthHost } from "./host.ts";
import type { Outage, Prices, Rental, Volume } from "./facts.ts";

export type Component = "gpu" | "disk" | "bwu" | "bwd";
/** An amount in nano-dollars as a fraction: nothing is rounded here. */
export type Exact = { readonly above: bigint; readonly below: bigint };
export type Window = { readonly fromMs: number; readonly untilMs: number };

const SECOND_MS = 1000;
const PPM = 1_000_000n;
const SECONDS_PER_HOUR = 3_600n;
const SECONDS_PER_MONTH = 30n * 24n * SECONDS_PER_HOUR;
const BYTES_PER_GB = 1_000_000_000n;

/** The cost of one component of a rental in this window: each second at the price that was agreed for it. */
export function rentalCost(rental: Rental, component: Component, outages: readonly Outage[], window: Window): Exact {
  let above = 0n;
  for (const [price, quantity] of tally(rental, component, outages, window)) above += price * quantity;
  if (component === "gpu") return { above, below: SECONDS_PER_HOUR * PPM };
  if (component === "disk") return { above: above * BigInt(rental.diskGb), below: SECONDS_PER_MONTH };
  return { above, below: BYTES_PER_GB };
}

/** Counts seconds, or bytes, by price. */
function tally(
  rental: Rental,
  component: Component,
  outages: readonly Outage[],
  { fromMs, untilMs }: Window,
): ReadonlyMap<bigint, bigint> {
  const quantities = new Map<bigint, bigint>();
  const began = beganMs(rental);
  const runs = stretchesOf(rental);
  for (let atMs = Math.max(fromMs, began); atMs < Math.min(untilMs, rental.destroyedMs ?? untilMs); atMs += SECOND_MS) {
    if (isAway(rental.host, outages, atMs)) continue;
    const isRunning = runs.some((run) => run.fromMs <= atMs && atMs < (run.untilMs ?? Infinity));
    if (component !== "disk" && !isRunning) continue;
    const price = priceAt(rental, component, atMs);
    const quantity = component === "gpu" || component === "disk" ? 1n : BigInt(bytesAt(rental, component, atMs));
    quantities.set(price, (quantities.get(price) ?? 0n) + quantity);
  }
  return quantities;
}

/** The moment of a rental's first run, from which on it is charged. */
function beganMs(rental: Rental): number {
  return Math.min(...stretchesOf(rental).map((stretch) => stretch.fromMs));
}

/** A price in nano-dollars; for GPUs in millionths of one, since a deposit pays at a discount. */
function priceAt({ agreed, reserved }: Rental, component: Component, atMs: number): bigint {
  const { gpu, disk, up, down }: Prices = agreed.findLast(({ fromMs }) => fromMs <= atMs)?.prices ?? NO_PRICES;
  switch (component) {
    case "gpu":
      return gpu * (PPM - BigInt(reserved !== undefined && reserved.fromMs <= atMs ? reserved.discountPpm : 0));
    case "disk":
      return disk;
    case "bwu":
      return up;
    case "bwd":
      return down;
  }
}

const NO_PRICES: Prices = { gpu: 0n, disk: 0n, up: 0n, down: 0n };

function bytesAt({ id, host }: Rental, component: "bwu" | "bwd", atMs: number): number {
  return host.flows
    .filter((flow) => flow.instanceId === id && flow.fromMs <= atMs && atMs < flow.untilMs)
    .reduce((sum, flow) => sum + (component === "bwu" ? flow.sentPerSecond : flow.receivedPerSecond), 0);
}

/** The cost of a volume in this window: no state is free, only the absence of its host. */
export function volumeCost(volume: Volume, outages: readonly Outage[], { fromMs, untilMs }: Window): Exact {
  let seconds = 0n;
  const end = Math.min(untilMs, volume.deletedMs ?? untilMs);
  for (let atMs = Math.max(fromMs, volume.fromMs); atMs < end; atMs += SECOND_MS) {
    if (!isAway(volume.host, outages, atMs)) seconds += 1n;
  }
  return { above: seconds * volume.price * BigInt(volume.sizeGb), below: SECONDS_PER_MONTH };
}

/** The cost of the last ten minutes of a run that an outage ended. */
export function creditFor(rental: Rental, outages: readonly Outage[], outage: Outage): Exact {
  const wasRunning = stretchesOf(rental).some(
    ({ fromMs, untilMs = Infinity }) => fromMs < outage.fromMs && outage.fromMs < untilMs,
  );
  const isHit = rental.host === outage.host && wasRunning;
  const window = { fromMs: outage.fromMs - 600_000, untilMs: isHit ? outage.fromMs : 0 };
  return rentalCost(rental, "gpu", outages, window);
}

function isAway(host: MonthHost, outages: readonly Outage[], atMs: number): boolean {
  return outages.some((outage) => outage.host === host && outage.fromMs <= atMs && atMs < outage.untilMs);
}

function stretchesOf({ id, host }: Rental) {
  return host.runs.filter((run) => run.instanceId === id).flatMap((run) => run.stretches);
}
