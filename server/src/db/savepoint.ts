import { sql } from "kysely";
import type { Fact } from "../base/facts.ts";
import type { Tx } from "./transaction.ts";

/**
 * Runs `work` as a part of the transaction: its failure undoes the part's own writes and leaves the rest usable. The
 * part's effects after the commit and its facts are forgotten as well.
 */
export async function inSavepoint<T>(tx: Tx, work: (part: Tx) => Promise<T>): Promise<T> {
  const effects: (() => void)[] = [];
  const facts: Fact[] = [];
  await sql`savepoint part`.execute(tx.db);
  try {
    const result = await work({
      ...tx,
      afterCommit: (effect) => effects.push(effect),
      noteFact: (fact) => facts.push(fact),
    });
    await sql`release savepoint part`.execute(tx.db);
    for (const effect of effects) tx.afterCommit(effect);
    for (const fact of facts) tx.noteFact(fact);
    return result;
  } catch (error) {
    await sql`rollback to savepoint part`.execute(tx.db);
    await sql`release savepoint part`.execute(tx.db);
    throw error;
  }
}
