import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** The limits that accounts give their new instances; accounts without one are left out. */
export async function listAccountTrafficLimits(
  db: Reader,
  userIds: readonly UserId[],
): Promise<ReadonlyMap<UserId, Nanos>> {
  const { rows } = await sql<{ id: UserId; limit: bigint }>`
    select id, traffic_limit_nanos as limit from users
    where id = any(${[...new Set(userIds)]}::integer[]) and traffic_limit_nanos is not null
  `.execute(db);
  return new Map(rows.map(({ id, limit }) => [id, nanos(limit)]));
}
