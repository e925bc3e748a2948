import type { Clock } from "../../base/clock.ts";
import type { Reader } from "../../db/transaction.ts";
import { BEAT_EVERY_MS } from "./rules/liveness.ts";
import { listServersBelow, type OlderServer } from "./store.ts";

/** A living server has beaten by then, also a busy one. */
const WATCH_MS = 3 * BEAT_EVERY_MS;

/**
 * The servers of an older schema than this that run now. Clocks of two machines are never compared: one whose beat does
 * not rise is dead.
 */
export async function findOlderServers(db: Reader, clock: Clock, schema: number): Promise<readonly OlderServer[]> {
  const before = new Map((await listServersBelow(db, schema)).map(({ id, beatCount }) => [id, beatCount]));
  if (before.size === 0) return [];
  await clock.sleep(WATCH_MS);
  const after = await listServersBelow(db, schema);
  return after.filter(({ id, beatCount }) => before.get(id) !== beatCount);
}
