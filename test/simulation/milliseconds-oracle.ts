// The cost of a script, counted millisecond by millisecond from the script's own knowledge. It asks no table.
import type { MonthHost } from "./month/host.ts";

/** The terms agreed from a time on. */
export type Agreement = { readonly fromMs: number; readonly gpuNanos: bigint; readonly discountPpm: number };

export type Rental = {
  readonly kind: "instance";
  readonly id: number;
  readonly host: MonthHost;
  readonly diskBytes: bigint;
  readonly diskNanos: bigint;
  readonly upNanos: bigint;
  readonly downNanos: bigint;
  readonly agreed: Agreement[];
  overMs: number | undefined;
};

export type Stored = {
  readonly kind: "volume";
  readonly id: number;
  readonly host: MonthHost;
  readonly diskBytes: bigint;
  readonly diskNanos: bigint;
  readonly fromMs: number;
  overMs: number | undefined;
};

/** A time, longer than a heartbeat lease, in which nobody saw a host. */
export type Gap = { readonly host: MonthHost; readonly fromMs: number; readonly untilMs: number };

/** Milliseconds or bytes by their price: `instance 7 gpu 1000000000 0`, the price and the discount. */
export type Quantities = ReadonlyMap<string, bigint>;

const MS_PER_SECOND = 1000;

/** Counts every millisecond from `fromMs` up to `untilMs`. */
export function countMilliseconds(
  contracts: readonly (Rental | Stored)[],
  gaps: readonly Gap[],
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
): Quantities {
  const quantities = new Map<string, bigint>();
  for (const contract of contracts) {
    const away = mark(
      gaps.filter(({ host }) => host === contract.host),
      { fromMs, untilMs },
    );
    if (contract.kind === "volume") countVolume(quantities, contract, { away, fromMs, untilMs });
    else countRental(quantities, contract, { away, fromMs, untilMs });
  }
  return quantities;
}

type Timeline = { readonly away: Uint8Array; readonly fromMs: number; readonly untilMs: number };
type Window = { readonly fromMs: number; readonly untilMs: number };

function countVolume(quantities: Map<string, bigint>, volume: Stored, { away, fromMs, untilMs }: Timeline): void {
  let storedMs = 0;
  for (let ms = volume.fromMs; ms < Math.min(untilMs, volume.overMs ?? untilMs); ms += 1) {
    if (away[ms - fromMs] === 0) storedMs += 1;
  }
  add(quantities, `volume ${volume.id} disk ${volume.diskNanos} 0`, storedMs);
}

function countRental(quantities: Map<string, bigint>, rental: Rental, { away, fromMs, untilMs }: Timeline): void {
  const { id, host, agreed, overMs = untilMs } = rental;
  const stretches = host.runs.filter((run) => run.instanceId === id).flatMap((run) => run.stretches);
  const running = mark(
    stretches.map((stretch) => ({ fromMs: stretch.fromMs, untilMs: stretch.untilMs ?? untilMs })),
    { fromMs, untilMs },
  );
  const flows = host.flows.filter((flow) => flow.instanceId === id);
  if (stretches.length === 0) return;
  // From its first running on, even if that was over within the same millisecond.
  const firstMs = Math.min(...stretches.map((stretch) => stretch.fromMs));
  const ranMs = new Map<Agreement, number>();
  let [diskMs, sent, received] = [0, 0, 0];
  let agreement = 0;
  for (let ms = firstMs; ms < untilMs; ms += 1) {
    while ((agreed[agreement + 1]?.fromMs ?? Infinity) <= ms) agreement += 1;
    if (away[ms - fromMs] === 1) continue;
    if (ms < overMs) diskMs += 1;
    if (running[ms - fromMs] === 0) continue;
    const present = agreed[agreement];
    if (present !== undefined) ranMs.set(present, (ranMs.get(present) ?? 0) + 1);
    for (const flow of flows) {
      if (ms < flow.fromMs || ms >= flow.untilMs) continue;
      sent += flow.sentPerSecond / MS_PER_SECOND;
      received += flow.receivedPerSecond / MS_PER_SECOND;
    }
  }
  for (const [{ gpuNanos, discountPpm }, ms] of ranMs) {
    add(quantities, `instance ${id} gpu ${gpuNanos} ${discountPpm}`, ms);
  }
  add(quantities, `instance ${id} disk ${rental.diskNanos} 0`, diskMs);
  add(quantities, `instance ${id} bwu ${rental.upNanos} 0`, sent);
  add(quantities, `instance ${id} bwd ${rental.downNanos} 0`, received);
}

function add(quantities: Map<string, bigint>, key: string, quantity: number): void {
  if (quantity > 0) quantities.set(key, (quantities.get(key) ?? 0n) + BigInt(quantity));
}

/** Marks stretches with 1 in an array of one byte for each millisecond. */
function mark(stretches: readonly Window[], { fromMs, untilMs }: Window): Uint8Array {
  const marks = new Uint8Array(untilMs - fromMs);
  for (const stretch of stretches) {
    marks.fill(1, Math.max(0, stretch.fromMs - fromMs), Math.max(0, Math.min(stretch.untilMs, untilMs) - fromMs));
  }
  return marks;
}

const PPM = 1_000_000n;
const DIVISORS: Readonly<Record<string, bigint>> = {
  gpu: 3_600_000n * PPM,
  disk: 30n * 24n * 3_600_000n * 1_000_000_000n * PPM,
  bwu: 1_000_000_000n * PPM,
  bwd: 1_000_000_000n * PPM,
};

/** The cost of a quantity, as a fraction: nothing is rounded here. */
export function costOf(key: string, quantity: bigint, diskBytes: bigint): { readonly above: bigint; below: bigint } {
  const [, , component = "", price = "0", discount = "0"] = key.split(" ");
  const size = component === "disk" ? diskBytes : 1n;
  return { above: quantity * size * BigInt(price) * (PPM - BigInt(discount)), below: DIVISORS[component] ?? 1n };
}
