import { invalid } from "../../../base/errors.ts";
import type { UserId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import { lockUser } from "./users/store.ts";

/**
 * Throws `too_many` (400) when an account already has `max` objects of a kind. Requests of one account are counted one
 * after another, so that concurrent requests cannot pass the limit together.
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
  /** The request field that asks for one more. */
  readonly field: string;
  /** The plural noun of the counted objects. */
  readonly what: string;
  /** A sentence with the remedy, in place of the advice to delete one. */
  readonly advice?: string;
};
