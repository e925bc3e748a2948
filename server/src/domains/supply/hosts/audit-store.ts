// Machine rows for the audit of the books.
import { sql } from "kysely";
import type { MachineId, UserId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";

/**
 * The owner of a machine and the spans in which it was in touch; the open span of a connected machine ends when it was
 * last heard.
 */
export type AuditedMachine = {
  readonly id: MachineId;
  readonly hostId: UserId;
  readonly spans: readonly { readonly fromAt: Date; readonly untilAt: Date }[];
};

/** Machines with the spans that had not ended before `from`, in order of time. */
export async function listAuditedMachines(
  db: Reader,
  ids: readonly MachineId[],
  from: Date | undefined,
): Promise<ReadonlyMap<MachineId, AuditedMachine>> {
  const machines = await db
    .selectFrom("machines")
    .select(["id", "host_id"])
    .where("id", "=", sql<MachineId>`any(${ids}::integer[])`)
    .execute();
  const { rows: spans } = await sql<{ machine_id: MachineId; from_at: Date; until_at: Date }>`
    select s.machine_id, s.from_at, coalesce(s.until_at, greatest(m.last_seen_at, s.from_at)) as until_at
    from machine_spans s
    join machines m on m.id = s.machine_id
    where s.machine_id = any (${ids}::integer[])
      and (s.until_at is null or s.until_at >= coalesce(${from ?? null}::timestamptz, '-infinity'))
    order by s.machine_id, s.from_at
  `.execute(db);
  const spansOf = Map.groupBy(spans, (span) => span.machine_id);
  return new Map(
    machines.map(({ id, host_id: hostId }) => [
      id,
      {
        id,
        hostId,
        spans: (spansOf.get(id) ?? []).map(({ from_at: fromAt, until_at: untilAt }) => ({ fromAt, untilAt })),
      },
    ]),
  );
}
