// Facts of rentals as SQL for the stores of deposits and tabs, whose statements stay one each.
import { sql, type RawBuilder } from "kysely";
import type { MachineId, UserId } from "../../../../base/ids.ts";

/** The id of an instance in a statement: a column or a parameter. */
type IdInSql = RawBuilder<unknown>;

/** True for an instance on this machine. */
export const isOnMachine = (id: IdInSql, machineId: MachineId) =>
  sql<boolean>`exists (select from instances where instances.id = ${id} and instances.machine_id = ${machineId})`;

/** True for a rental that goes on, with an end date before this moment. */
export const endsBefore = (id: IdInSql, at: RawBuilder<unknown>) =>
  sql<boolean>`exists (
    select from instances
    where instances.id = ${id} and instances.ended_at is null and instances.desired <> 'destroyed'
      and instances.end_at < ${at}
  )`;

/** True for an instance that is to run and holds devices, unless it is a background job of its host. */
export const needsHold = (id: IdInSql) =>
  sql<boolean>`exists (
    select from instances
    where instances.id = ${id} and not instances.is_background and instances.desired = 'running'
      and instances.phase in ('starting', 'running', 'yielding')
  )`;

/** True for an instance that has ended. */
export const hasEnded = (id: IdInSql) =>
  sql<boolean>`exists (select from instances where instances.id = ${id} and instances.phase = 'ended')`;

/** True for an instance with counted running time that is not charged. */
export const hasUnchargedTime = (id: IdInSql) =>
  sql<boolean>`exists (
    select from instance_runs as run where run.instance_id = ${id} and run.charged_running_ms < run.running_ms
  )`;

/** A rental that is over, as a row of `ended_at`; no row while it goes on. */
export const endedRental = (id: IdInSql) =>
  sql`(select instances.ended_at from instances where instances.id = ${id} and instances.ended_at is not null)`;

/** The rentals of a user that go on, as rows with their size, end date and prices. */
export const openRentalsOf = (userId: UserId) =>
  sql`(
    select id, device_count, end_at, is_bid, price_nanos_per_hour, storage_nanos_per_gb_month, inet_up_nanos_per_gb,
      inet_down_nanos_per_gb
    from instances where user_id = ${userId} and ended_at is null and desired <> 'destroyed'
  )`;
