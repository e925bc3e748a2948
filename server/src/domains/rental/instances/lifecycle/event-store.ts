import type { InstanceId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

export type StoredEvent = {
  readonly at: Date;
  readonly actor: string;
  readonly cause: string;
  readonly from: string | undefined;
  readonly to: string;
};

/** The last events of an instance, newest first. */
export async function listEvents(db: Reader, id: InstanceId, limit: number): Promise<readonly StoredEvent[]> {
  const rows = await db
    .selectFrom("instance_events")
    .select(["at", "actor", "cause", "from_phase", "to_phase"])
    .where("instance_id", "=", id)
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    at: row.at,
    actor: row.actor,
    cause: row.cause,
    from: row.from_phase ?? undefined,
    to: row.to_phase,
  }));
}

/** The actor of the last stop; undefined when there was none, as for an instance that was created stopped. */
export async function findLastStopper(db: Reader, id: InstanceId): Promise<string | undefined> {
  const row = await db
    .selectFrom("instance_events")
    .select("actor")
    .where("instance_id", "=", id)
    .where((eb) => eb.or([eb("cause", "=", "stop_requested"), eb("actor", "=", "rule")]))
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.actor;
}
