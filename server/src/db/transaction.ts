import type { Kysely, Transaction } from "kysely";
import type { Clock } from "../base/clock.ts";
import type { Fact, Origin } from "../base/facts.ts";
import type { Database } from "./connect.ts";
import { appendFacts } from "./fact-chain.ts";
import { isRetryableState, isStalePlan } from "./sql-state.ts";
import type { Tables } from "./tables.ts";

/** Anything that answers queries: the pool for a plain read, or the open transaction. */
export type Reader = Kysely<Tables>;

/** One database transaction with the one instant that everything in it calls now. */
export type Tx = {
  readonly db: Transaction<Tables>;
  readonly now: Date;
  /** The clock that `now` is from; undefined where that is not known. */
  readonly clockId: number | undefined;
  /** Runs after the commit, in order; never when the transaction is rolled back. For waking loops and telling agents. */
  readonly afterCommit: (effect: () => void) => void;
  /** The requester and the request that the transaction serves; undefined for loops. */
  readonly origin: Origin | undefined;
  /** Keeps a fact for the chain: all facts of the transaction become one link right before the commit. */
  readonly noteFact: (fact: Fact) => void;
  /** The digest that stands in a fact for a text that should not be repeated there. */
  readonly digest: (text: string) => string;
};

const ATTEMPTS_MAX = 5;

/** Thrown by work that met another transaction's effect: it runs again, as after a serialization failure. */
export class RunAgain extends Error {
  override readonly name = "RunAgain";
}

/**
 * Runs `work` in one transaction, as a whole again when PostgreSQL asks for it (serialization failure, deadlock).
 * Opened by services and loops, never by stores; nothing inside may reach a network, an agent or Docker.
 */
export async function withTransaction<T>(
  database: Database,
  clock: Clock,
  work: (tx: Tx) => Promise<T>,
  origin?: Origin,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const effects: (() => void)[] = [];
    const now = clock.now();
    try {
      const result = await database.kysely.transaction().execute(async (db) => {
        const facts: Fact[] = [];
        const noteFact = (fact: Fact) => void facts.push({ ...fact, origin: fact.origin ?? origin });
        const afterCommit = (effect: () => void) => void effects.push(effect);
        const done = await work({
          db,
          now,
          clockId: clock.id,
          afterCommit,
          origin,
          noteFact,
          digest: (text) => database.facts.signer.digest(text),
        });
        if (facts.length > 0) {
          const head = await appendFacts({ db, now }, database.facts, facts);
          afterCommit(() => database.facts.witness.see(head));
        }
        return done;
      });
      for (const effect of effects) effect();
      return result;
    } catch (error) {
      if (attempt >= ATTEMPTS_MAX || !(error instanceof RunAgain || isRetryableState(error))) throw error;
    }
  }
}

/** Carries the result of a rehearsal out of the transaction that is rolled back. */
class Rehearsed<T> extends Error {
  override readonly name = "Rehearsed";
  readonly result: T;

  constructor(result: T) {
    super("taken back");
    this.result = result;
  }
}

/**
 * Runs `work` as `withTransaction` does, rolls everything back, and returns the result that the work would have had.
 */
export async function rehearse<T>(database: Database, clock: Clock, work: (tx: Tx) => Promise<T>): Promise<T> {
  let taken: Rehearsed<T> | undefined;
  try {
    await withTransaction(database, clock, async (tx) => {
      taken = new Rehearsed(await work(tx));
      throw taken;
    });
  } catch (error) {
    if (taken === undefined || error !== taken) throw error;
  }
  if (taken === undefined) throw new Error("a rehearsal was committed");
  return taken.result;
}

/** Runs reads that must agree with each other: all of them see the one moment of the first. */
export async function inSnapshot<T>(database: Database, work: (db: Reader) => Promise<T>): Promise<T> {
  const snapshot = database.kysely.transaction().setIsolationLevel("repeatable read").setAccessMode("read only");
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await snapshot.execute(work);
    } catch (error) {
      if (attempt >= ATTEMPTS_MAX || !isStalePlan(error)) throw error;
    }
  }
}
