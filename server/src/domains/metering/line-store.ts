import { sql } from "kysely";
import type { InstanceId, MachineId, UserId, VolumeId } from "../../base/ids.ts";
import { nanos, type Nanos } from "../../base/money.ts";
import type { Reader, Tx } from "../../db/transaction.ts";
import type { TransferId } from "../ledger/index.ts";
import type { PaidLine } from "./payment.ts";

/** Who pays whom, and for what. */
export type Contract = {
  readonly payerId: UserId;
  readonly hostId: UserId;
  readonly machineId: MachineId | undefined;
} & (
  | { readonly instanceId: InstanceId; readonly volumeId: undefined }
  | { readonly instanceId: undefined; readonly volumeId: VolumeId }
);

export type NewLine = PaidLine & { readonly contract: Contract; readonly transferId: TransferId | undefined };

/** Inserts the lines of a settlement, in order, by one statement. */
export async function insertLines(tx: Tx, lines: readonly NewLine[]): Promise<void> {
  if (lines.length === 0) return;
  const column = <T>(pick: (line: NewLine) => T | undefined) => lines.map((line) => pick(line) ?? null);
  const at = (pick: (line: NewLine) => number) => lines.map((line) => new Date(pick(line)).toISOString());
  await sql`
    insert into charge_lines (
      transfer_id, payer_id, host_id, machine_id, instance_id, volume_id, generation, component, state, cause, from_at,
      to_at, quantity, size_bytes, unit_price_nanos, discount_ppm, amount_nanos, unpaid_nanos, paid_from, charged_at
    )
    select *, ${tx.now}::timestamptz
    from unnest(
      ${column((line) => line.transferId)}::bigint[], ${column((line) => line.contract.payerId)}::integer[],
      ${column((line) => line.contract.hostId)}::integer[], ${column((line) => line.contract.machineId)}::integer[],
      ${column((line) => line.contract.instanceId)}::integer[], ${column((line) => line.contract.volumeId)}::integer[],
      ${column((line) => line.generation)}::integer[], ${column((line) => line.component)}::text[],
      ${column((line) => line.state)}::text[], ${column((line) => line.cause)}::text[],
      ${at((line) => line.fromMs)}::timestamptz[], ${at((line) => line.toMs)}::timestamptz[],
      ${column((line) => line.quantity)}::bigint[], ${column((line) => line.sizeBytes)}::bigint[],
      ${column((line) => line.unitPriceNanos)}::bigint[], ${column((line) => line.discountPpm)}::integer[],
      ${column((line) => line.amountNanos)}::bigint[], ${column((line) => line.unpaidNanos)}::bigint[],
      ${column((line) => line.paidFrom)}::text[]
    )
  `.execute(tx.db);
}

/** What a stretch of the running time of a run cost, as it was paid. */
export type PaidStretch = {
  readonly instanceId: InstanceId;
  readonly generation: number;
  readonly fromAt: Date;
  readonly toAt: Date;
  readonly quantity: bigint;
  readonly amountNanos: Nanos;
  readonly paidFrom: "credit" | "deposit";
};

/** What was paid for the running time of these runs since then. */
export async function listPaidStretches(
  db: Reader,
  runs: readonly { readonly instanceId: InstanceId; readonly generation: number; readonly since: Date }[],
): Promise<readonly PaidStretch[]> {
  if (runs.length === 0) return [];
  const { rows } = await sql<PaidStretch>`
    select l.instance_id as "instanceId", l.generation, l.from_at as "fromAt", l.to_at as "toAt", l.quantity,
      l.amount_nanos as "amountNanos", l.paid_from as "paidFrom"
    from unnest(
      ${runs.map((run) => run.instanceId)}::integer[], ${runs.map((run) => run.generation)}::integer[],
      ${runs.map((run) => run.since)}::timestamptz[]
    ) as wanted (instance_id, generation, since)
    join charge_lines l on l.instance_id = wanted.instance_id and l.generation = wanted.generation
    where l.component = 'gpu' and l.to_at > wanted.since
    order by l.id
  `.execute(db);
  return rows.map((row) => ({ ...row, amountNanos: nanos(row.amountNanos) }));
}
