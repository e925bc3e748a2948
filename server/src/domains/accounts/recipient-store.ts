import { parseId, type UserId } from "../../base/ids.ts";
import type { Database } from "../../db/connect.ts";

/**
 * The live users whom these texts name, by e-mail address (in any case) or by id; texts that name nobody are left out.
 * One prepared statement for all of them: credit transfers ask this for every batch.
 */
export async function findUserIds(database: Database, texts: readonly string[]): Promise<ReadonlyMap<string, UserId>> {
  const emails = new Map<string, string[]>();
  const ids = new Map<number, string[]>();
  const note = <Key>(map: Map<Key, string[]>, key: Key, text: string) => {
    const known = map.get(key);
    if (known === undefined) map.set(key, [text]);
    else known.push(text);
  };
  for (const text of new Set(texts)) {
    const trimmed = text.trim();
    const id = parseId<UserId>(trimmed);
    if (trimmed.includes("@")) note(emails, trimmed.toLowerCase(), text);
    else if (id !== undefined) note(ids, id, text);
  }
  const { rows } = await database.pool.query<{ id: UserId; email: string }>({
    name: "find_user_ids",
    text: `select id, email from users where id = any ($1::integer[]) and deleted_at is null
      union all
      select id, email from users where email = any ($2::text[]) and deleted_at is null`,
    values: [[...ids.keys()], [...emails.keys()]],
  });
  const found = new Map<string, UserId>();
  for (const { id, email } of rows) {
    for (const text of [...(ids.get(id) ?? []), ...(emails.get(email) ?? [])]) found.set(text, id);
  }
  return found;
}
