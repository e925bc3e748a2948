import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** Reasons to hold a host's earnings: a flag, or no machine that was ever verified. */
export type HostDoubt = {
  readonly hostId: UserId;
  /**
   * When the newest of its open flags was raised; undefined without one. Flags for refused facts and slow uplinks are
   * left out: neither earns the host anything.
   */
  readonly flaggedAt: Date | undefined;
  readonly flag: string | undefined;
  readonly isUnverified: boolean;
};

/** Every host that has machines, with the reasons against it. */
export async function listHostDoubts(db: Reader): Promise<readonly HostDoubt[]> {
  const { rows } = await sql<{ hostId: UserId; flaggedAt: Date | null; flag: string | null; isUnverified: boolean }>`
    select machines.host_id as "hostId", newest.since_at as "flaggedAt", newest.detail as flag,
      not bool_or(machines.verification in ('verified', 'deverified') or agent_credentials.is_trusted) as "isUnverified"
    from machines
    join agent_credentials on agent_credentials.id = machines.agent_credential_id
    left join lateral (
      select since_at, detail from host_flags
      where host_flags.host_id = machines.host_id and cleared_at is null
        and kind not in ('senseless_facts', 'slow_line')
      order by since_at desc, id desc limit 1
    ) as newest on true
    group by machines.host_id, newest.since_at, newest.detail
    order by machines.host_id
  `.execute(db);
  return rows.map((row) => ({ ...row, flaggedAt: row.flaggedAt ?? undefined, flag: row.flag ?? undefined }));
}
