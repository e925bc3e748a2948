import { sql } from "kysely";
import type { InstanceId, MachineId, UserId, VolumeId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import { bigints, integers, texts, timestamps } from "../../../../db/arrays.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { TransferId } from "../../ledger/index.ts";
import type { PaidLine } from "../settlement/payment.ts";

/** The payer and the host of a charge, and the instance or volume that it is for. */
export type Contract = {
  readonly payerId: UserId;
  readonly hostId: UserId;
  readonly machineId: MachineId | undefined;
} & (
  | { readonly instanceId: InstanceId; readonly volumeId: undefined }
  | { readonly instanceId: undefined; readonly volumeId: VolumeId }
);

export type NewLine = PaidLine & { readonly contract: Contract; readonly transferId: TransferId | undefined };

/** Inserts the charge lines of a settlement in order, with one statement. */
export async function insertLines(tx: Tx, lines: readonly NewLine[]): Promise<void> {
  if (lines.length === 0) return;
  const numbers = (pick: (line: NewLine) => number | undefined) => integers(lines.map(pick));
  const amounts = (pick: (line: NewLine) => bigint | undefined) => bigints(lines.map(pick));
  const words = (pick: (line: NewLine) => string) => texts(lines.map(pick));
  const times = (pick: (line: NewLine) => number) => timestamps(lines.map(pick));
  await sql`
    insert into charge_lines (
      transfer_id, payer_id, host_id, machine_id, instance_id, volume_id, generation, component, state, cause, from_at,
      to_at, quantity, size_bytes, unit_price_nanos, discount_ppm, amount_nanos, unpaid_nanos, paid_from, charged_at
    )
    select
      unnest(${amounts((line) => line.transferId)}::bigint[]), unnest(${numbers((line) => line.contract.payerId)}::integer[]),
      unnest(${numbers((line) => line.contract.hostId)}::integer[]),
      unnest(${numbers((line) => line.contract.machineId)}::integer[]),
      unnest(${numbers((line) => line.contract.instanceId)}::integer[]),
      unnest(${numbers((line) => line.contract.volumeId)}::integer[]),
      unnest(${numbers((line) => line.generation)}::integer[]), unnest(${words((line) => line.component)}::text[]),
      unnest(${words((line) => line.state)}::text[]), unnest(${words((line) => line.cause)}::text[]),
      unnest(${times((line) => line.fromMs)}::timestamptz[]), unnest(${times((line) => line.toMs)}::timestamptz[]),
      unnest(${amounts((line) => line.quantity)}::bigint[]), unnest(${amounts((line) => line.sizeBytes)}::bigint[]),
      unnest(${amounts((line) => line.unitPriceNanos)}::bigint[]), unnest(${numbers((line) => line.discountPpm)}::integer[]),
      unnest(${amounts((line) => line.amountNanos)}::bigint[]), unnest(${amounts((line) => line.unpaidNanos)}::bigint[]),
      unnest(${words((line) => line.paidFrom)}::text[]), ${tx.now}::timestamptz
  `.execute(tx.db);
}

/** The price of a stretch of a run's running time, as it was paid. */
export type PaidStretch = {
  readonly instanceId: InstanceId;
  readonly generation: number;
  readonly fromAt: Date;
  readonly toAt: Date;
  readonly quantity: bigint;
  readonly amountNanos: Nanos;
  readonly paidFrom: "credit" | "deposit";
};

/** All payments from these renters to these hosts, one sum for each pair that has any. */
export async function sumPaidTo(
  db: Reader,
  { hostIds, renterIds }: { readonly hostIds: readonly UserId[]; readonly renterIds: readonly UserId[] },
): Promise<readonly { readonly hostId: UserId; readonly renterId: UserId; readonly paidNanos: bigint }[]> {
  const { rows } = await sql<{ host_id: UserId; payer_id: UserId; paid: string }>`
    select host_id, payer_id, sum(amount_nanos)::text as paid from charge_lines
    where payer_id = any(${integers(renterIds)}::integer[]) and host_id = any(${integers(hostIds)}::integer[])
    group by host_id, payer_id
  `.execute(db);
  return rows.map((row) => ({ hostId: row.host_id, renterId: row.payer_id, paidNanos: BigInt(row.paid) }));
}

/**
 * Payments for the running time of each run after its `since`. A stretch that began earlier is returned whole.
 */
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
