import { sql } from "kysely";
import type { InstanceId, UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** Users who rent something that may cost, in pages by id. */
export async function listRenters(db: Reader, afterId: number, limit: number): Promise<readonly UserId[]> {
  const { rows } = await sql<{ id: UserId }>`
    select distinct i.user_id as id
    from instances i
    where i.user_id > ${afterId}::integer and i.ended_at is null and not i.is_background
    order by 1
    limit ${limit}::integer
  `.execute(db);
  return rows.map((row) => row.id);
}

export type Kept = { readonly id: InstanceId; readonly isEnding: boolean };

/** A user's instances that are not over, in id order. */
export async function listKept(db: Reader, userId: UserId): Promise<readonly Kept[]> {
  const { rows } = await sql<Kept>`
    select i.id, i.phase = 'ending' as "isEnding"
    from instances i
    where i.user_id = ${userId}::integer and i.ended_at is null and not i.is_background
    order by i.id
  `.execute(db);
  return rows;
}
