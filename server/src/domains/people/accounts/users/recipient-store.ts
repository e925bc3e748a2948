import { parseId, type UserId } from "../../../../base/ids.ts";
import type { Database } from "../../../../db/connect.ts";

/** A possible recipient of credit, with the facts that decide whether credit may go there. */
export type Recipient = {
  readonly id: UserId;
  readonly isTeam: boolean;
  /** True when the account has proven its address. */
  readonly isProven: boolean;
  readonly parentId: UserId | undefined;
};

type Row = {
  readonly id: UserId;
  readonly email: string;
  readonly is_team: boolean;
  readonly is_proven: boolean;
  readonly parent_id: UserId | null;
};

/**
 * Live users by e-mail address (in any case) or id; texts that name nobody are left out. For an address, the account
 * that has proven it is returned alone; otherwise all accounts that claim it. One prepared statement for all texts:
 * credit transfers ask this for every batch.
 */
export async function findRecipients(
  database: Database,
  texts: readonly string[],
): Promise<ReadonlyMap<string, readonly Recipient[]>> {
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
  const { rows } = await database.pool.query<Row>({
    name: "find_recipients",
    text: `select id, email, is_team, parent_id, email_proven_at is not null as is_proven from users where id = any ($1::integer[]) and deleted_at is null
      union all
      select id, email, is_team, parent_id, email_proven_at is not null as is_proven from users where email = any ($2::text[]) and deleted_at is null`,
    values: [[...ids.keys()], [...emails.keys()]],
  });
  const found = new Map<string, readonly Recipient[]>();
  for (const { id, email, is_team: isTeam, is_proven: isProven, parent_id: parentId } of rows) {
    const recipient = { id, isTeam, isProven, parentId: parentId ?? undefined };
    for (const text of ids.get(id) ?? []) found.set(text, [recipient]);
    for (const text of emails.get(email) ?? []) {
      const others = found.get(text) ?? [];
      if (others.some((other) => other.isProven)) continue;
      found.set(text, isProven ? [recipient] : [...others, recipient]);
    }
  }
  return found;
}
