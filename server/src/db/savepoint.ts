import { sql } from "kysely";
import type { Tx } from "./transaction.ts";

/**
 * Runs `work` as a part of the transaction: its failure undoes what it wrote itself and leaves the rest usable. What the
 * part wanted to do after the commit is forgotten with it.
 */
export async function inSavepoint<T>(tx: Tx, work: (part: Tx) => Promise<T>): Promise<T> {
  const effects: (() => void)[] = [];
  await sql`savepoint part`.execute(tx.db);
  try {
    const result = await work({ ...tx, afterCommit: (effect) => effects.push(effect) });
    await sql`release savepoint part`.execute(tx.db);
    for (const effect of effects) tx.afterCommit(effect);
    return result;
  } catch (error) {
    await sql`rollback to savepoint part`.execute(tx.db);
    await sql`release savepoint part`.execute(tx.db);
    throw error;
  }
}
