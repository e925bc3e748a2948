import type { PostgresPool, PostgresPoolClient } from "kysely";
import type pg from "pg";
import { isReadOnlyState, isStalePlan } from "./sql-state.ts";

/** A statement is prepared when it comes for the third time: most texts that come once never come again. */
const SIGHTINGS = 3;
/** Each prepared statement costs memory in every connection. */
const PREPARED_MAX = 250;
const REMEMBERED_MAX = 2_000;
const TEXT_LENGTH_MAX = 6_000;
const [BEGINS, ENDS] = [/^(begin|start transaction)\b/i, /^(commit|rollback)$/i];

/** Chooses the statements that are worth preparing, and their names; the same for all connections of a pool. */
export class StatementNames {
  readonly #names = new Map<string, string>();
  readonly #sightings = new Map<string, number>();
  #epoch = 0;

  /** The name to prepare this text under, or undefined to send it as it is. */
  nameOf(text: string): string | undefined {
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (this.#names.size >= PREPARED_MAX || text.length > TEXT_LENGTH_MAX) return undefined;
    const count = (this.#sightings.get(text) ?? 0) + 1;
    if (count >= SIGHTINGS) {
      const name = `berth_${this.#epoch}_${this.#names.size}`;
      this.#names.set(text, name);
      this.#sightings.delete(text);
      return name;
    }
    if (this.#sightings.size >= REMEMBERED_MAX) this.#sightings.clear();
    this.#sightings.set(text, count);
    return undefined;
  }

  /**
   * Gives every statement a new name, since the tables changed under the prepared one of this name. A name that was
   * replaced already replaces nothing: many statements may have been under way.
   */
  replace(name: string): void {
    const texts = [...this.#names.keys()];
    if (![...this.#names.values()].includes(name)) return;
    this.#epoch += 1;
    for (const [index, text] of texts.entries()) this.#names.set(text, `berth_${this.#epoch}_${index}`);
  }
}

/**
 * The pool as the query builder uses it: statements with parameters that come again and again are parsed and planned
 * once per connection instead of each time, which for small ones is most of what they cost. A migration of a newer
 * server may give a table another column, which PostgreSQL refuses to a statement prepared before: outside of a
 * transaction it is sent again here, and a transaction runs again as a whole.
 */
export function preparingPool(pool: pg.Pool, { isPooled }: { readonly isPooled: boolean }): PostgresPool {
  const names = new StatementNames();
  const clients = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  const wrap = (client: pg.PoolClient): PostgresPoolClient => {
    let isInTransaction = false;
    let isAtStandby = false;
    const send = async (text: string, values: readonly unknown[], name: string | undefined) => {
      try {
        return await client.query({ text, values: [...values], ...(name === undefined ? {} : { name }) });
      } catch (error) {
        isAtStandby ||= isReadOnlyState(error);
        throw error;
      }
    };
    // One of the two shapes that the builder calls is not served: cursors, for which it would need a package of its own.
    const query = async (text: string, values: readonly unknown[]) => {
      if (BEGINS.test(text)) isInTransaction = true;
      else if (ENDS.test(text)) isInTransaction = false;
      const name = isPooled || values.length === 0 ? undefined : names.nameOf(text);
      if (name === undefined) return send(text, values, undefined);
      try {
        return await send(text, values, name);
      } catch (error) {
        if (!isStalePlan(error)) throw error;
        names.replace(name);
        if (isInTransaction) throw error;
        return send(text, values, undefined);
      }
    };
    return {
      query: query as unknown as PostgresPoolClient["query"],
      // After a failover the next connection leads to the new primary, and this one never will.
      release: (destroy) => client.release(isAtStandby || destroy),
    };
  };
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect();
      const wrapped = clients.get(client) ?? wrap(client);
      clients.set(client, wrapped);
      return wrapped;
    },
  };
}
