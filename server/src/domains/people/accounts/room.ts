import { invalid } from "../../../base/errors.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import { lockUser } from "./users/store.ts";

/**
 * Refuses one more of what an account has `max` of already (`too_many`, 400). Requests of one account are counted one after
 * another, so that many at once cannot pass the limit together.
 */
export async function requireRoom(
  tx: Tx,
  userId: UserId,
  { count, max, field, what, advice = "Delete one that is not needed." }: Room,
): Promise<void> {
  await lockUser(tx, userId);
  if ((await count(tx)) < max) return;
  throw invalid(field, `An account may have at most ${max} ${what}. ${advice}`, "too_many");
}

type Room = {
  readonly count: (tx: Tx) => Promise<number>;
  readonly max: number;
  /** The field of the request that asks for one more. */
  readonly field: string;
  /** What is counted, in the plural. */
  readonly what: string;
  /** What to do instead of deleting one, as a sentence. */
  readonly advice?: string;
};
