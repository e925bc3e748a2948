import { invalid, type AppError } from "../../../../base/errors.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { readAccountLimits } from "../../../people/accounts/index.ts";
import { countLiveInstances } from "./instance-quota-store.ts";

/** The number of further instances that accounts may have, while a batch of orders is decided. */
export class InstanceQuota {
  readonly #left = new Map<UserId, number>();
  #max = 0;

  /**
   * Counts the instances of these accounts that were not counted yet. The caller holds the locks of their credit until
   * the commit, which each rental takes, so rentals at once on any server see those before them.
   */
  async count(tx: Tx, userIds: readonly UserId[]): Promise<void> {
    const others = [...new Set(userIds)].filter((id) => !this.#left.has(id));
    if (others.length === 0) return;
    this.#max = (await readAccountLimits(tx.db)).instances;
    const counts = await countLiveInstances(tx, others);
    for (const id of others) this.#left.set(id, this.#max - (counts.get(id) ?? 0));
  }

  /** Takes a place for one more instance of a counted account; returns the refusal if there is none left. */
  take(userId: UserId): AppError | undefined {
    const left = this.#left.get(userId) ?? 0;
    if (left <= 0) {
      const message = `An account may have at most ${this.#max} instances. Destroy one that is not needed.`;
      return invalid("id", message, "too_many");
    }
    this.#left.set(userId, left - 1);
    return undefined;
  }
}
