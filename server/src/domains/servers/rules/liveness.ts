import type { ServerId } from "../../../base/ids.ts";

/** Time between two beats of a server. */
export const BEAT_EVERY_MS = 2_000;
/** A server whose beat has not changed for this long is dead. */
export const SILENCE_MS = 10_000;
/** After a longer pause between two looks, this server may have missed beats, or the database was down. */
const LOOK_GAP_MS = 3 * BEAT_EVERY_MS;

export type Beat = { readonly id: ServerId; readonly beatCount: bigint; readonly isStopped: boolean };

/**
 * The beats of the other servers as one server has seen them, by its own clock: clocks of two machines are never
 * compared.
 */
export type Watch = {
  readonly lookedMs: number | undefined;
  readonly seen: ReadonlyMap<ServerId, { readonly beatCount: bigint; readonly sinceMs: number }>;
};

export const FIRST_WATCH: Watch = { lookedMs: undefined, seen: new Map() };

/**
 * Notes one look at the beats of the other servers, and returns those that are dead: stopped, or silent for too long.
 */
export function watchBeats(
  before: Watch,
  beats: readonly Beat[],
  nowMs: number,
): { readonly watch: Watch; readonly dead: readonly Beat[] } {
  const isAttentive = before.lookedMs !== undefined && nowMs - before.lookedMs <= LOOK_GAP_MS;
  const seen = new Map<ServerId, { readonly beatCount: bigint; readonly sinceMs: number }>();
  for (const { id, beatCount } of beats) {
    const known = before.seen.get(id);
    const isStill = isAttentive && known?.beatCount === beatCount;
    seen.set(id, { beatCount, sinceMs: isStill ? known.sinceMs : nowMs });
  }
  const dead = beats.filter(({ id, isStopped }) => isStopped || nowMs - (seen.get(id)?.sinceMs ?? nowMs) >= SILENCE_MS);
  return { watch: { lookedMs: nowMs, seen }, dead };
}
