import { SAMPLE_S } from "./tiers.ts";

/** The last sample of a connection: the number of its ten seconds since 1970, and the time of its arrival. */
export type Placed = { readonly slot: number; readonly atMs: number };

const SLOT_MS = SAMPLE_S * 1000;
/** How far the place of a sample may be from its arrival, before the places begin again at the arrivals. */
const DRIFT_MAX_MS = 1.5 * SLOT_MS;

/**
 * The place of a sample that arrives now, as it was counted from the one before: agents measure in equal steps, and what
 * is late or early by a second stays in its row. Undefined for a sample that comes too early and is dropped, however
 * often an agent sends.
 */
export function placeSample(before: Placed | undefined, atMs: number): Placed | undefined {
  const arrived = Math.floor(atMs / SLOT_MS);
  if (before === undefined) return { slot: arrived, atMs };
  const steps = Math.round((atMs - before.atMs) / SLOT_MS);
  if (steps < 1) return atMs < before.atMs - SLOT_MS ? { slot: arrived, atMs } : undefined;
  const slot = before.slot + steps;
  const isNear = Math.abs(atMs - slot * SLOT_MS) <= DRIFT_MAX_MS;
  if (isNear) return { slot, atMs };
  return arrived > before.slot ? { slot: arrived, atMs } : undefined;
}
