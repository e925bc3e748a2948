import { forbidden, type AppError } from "../../../../base/errors.ts";
import type { Identity } from "../../../../base/identity.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { findLastStopper } from "../lifecycle/event-store.ts";
import type { Actor, Instance } from "../instance.ts";
import { insertEvents } from "../store.ts";

/** Acts with the key inside a container. The host can read that key, so a host may be who uses it. */
const INSTANCE_KEY: Actor = "instance_key";

/** Who acts, for the history of the instance. */
export function actorOf({ userId, instanceId }: Pick<Identity, "userId" | "instanceId">): Actor {
  return instanceId === undefined ? `user:${userId}` : INSTANCE_KEY;
}

/**
 * Refuses the key inside a container what its host would gain from: running time after anybody else stopped the instance.
 * What the key stopped itself, it may start again. The caller holds the lock of the instance.
 */
export async function requireStarter(tx: Tx, { id, desired }: Instance, actor: Actor): Promise<void> {
  if (actor !== INSTANCE_KEY || desired !== "stopped") return;
  if ((await findLastStopper(tx.db, id)) === INSTANCE_KEY) return;
  throw needsAccountKey(`Instance ${id} was not stopped by the key inside it, so that key may not start it.`);
}

/** The same for the end of a prepaid rental, and for a stop that may last until then: the discount would go to the host. */
export function requireEnder({ id, discountPpm }: Instance, actor: Actor): void {
  if (actor !== INSTANCE_KEY || discountPpm === 0) return;
  throw needsAccountKey(`Instance ${id} is prepaid, so the key inside it may neither stop nor destroy it.`);
}

/** Notes a stop that changes nothing, where the key inside the container stopped first: that key may not undo it. */
export async function noteFurtherStop(tx: Tx, { id, phase, generation, desired }: Instance, actor: Actor) {
  if (actor === INSTANCE_KEY || desired !== "stopped") return;
  if ((await findLastStopper(tx.db, id)) !== INSTANCE_KEY) return;
  await insertEvents(tx, [{ instanceId: id, actor, cause: "stop_requested", from: phase, to: phase, generation }]);
}

function needsAccountKey(reason: string): AppError {
  return forbidden(`${reason} Use a key of the account.`);
}
