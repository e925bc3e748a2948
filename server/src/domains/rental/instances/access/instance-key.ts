import { forbidden, type AppError } from "../../../../base/errors.ts";
import type { Identity } from "../../../../base/identity.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { findLastStopper } from "../lifecycle/event-store.ts";
import type { Actor, Instance } from "../instance.ts";
import { insertEvents } from "../store.ts";

/** The actor for the key inside a container. The host can read that key and may be the one who uses it. */
const INSTANCE_KEY: Actor = "instance_key";

/** The actor of a request, for the history of the instance. */
export function actorOf({ userId, instanceId }: Pick<Identity, "userId" | "instanceId">): Actor {
  return instanceId === undefined ? `user:${userId}` : INSTANCE_KEY;
}

/**
 * Refuses a start by the key inside a container after another actor stopped the instance, because its host would earn
 * by that. An instance that the key stopped itself may be started by it again. The caller holds the lock of the
 * instance.
 */
export async function requireStarter(tx: Tx, { id, desired }: Instance, actor: Actor): Promise<void> {
  if (actor !== INSTANCE_KEY || desired !== "stopped") return;
  if ((await findLastStopper(tx.db, id)) === INSTANCE_KEY) return;
  throw needsAccountKey(`Instance ${id} was not stopped by the key inside it, so that key may not start it.`);
}

/**
 * Refuses the end of a prepaid rental, and a stop that may last until its end, by the key inside a container: the host
 * would get the discount back.
 */
export function requireEnder({ id, discountPpm }: Instance, actor: Actor): void {
  if (actor !== INSTANCE_KEY || discountPpm === 0) return;
  throw needsAccountKey(`Instance ${id} is prepaid, so the key inside it may neither stop nor destroy it.`);
}

/**
 * Notes a stop of an instance that the key inside its container stopped before, so that this key can no longer start
 * it.
 */
export async function noteFurtherStop(tx: Tx, { id, phase, generation, desired }: Instance, actor: Actor) {
  if (actor === INSTANCE_KEY || desired !== "stopped") return;
  if ((await findLastStopper(tx.db, id)) !== INSTANCE_KEY) return;
  await insertEvents(tx, [{ instanceId: id, actor, cause: "stop_requested", from: phase, to: phase, generation }]);
}

function needsAccountKey(reason: string): AppError {
  return forbidden(`${reason} Use a key of the account.`);
}
