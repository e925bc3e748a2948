import { sql } from "kysely";
import { asId, type InstanceId, type MachineId, type UserId, type VolumeId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";
import type { ChargeComponent, ChargeSpan, PaidFrom } from "./line-report-store.ts";

export type ChargeLine = {
  readonly id: bigint;
  readonly transferId: bigint | undefined;
  readonly hostId: UserId;
  readonly machineId: MachineId | undefined;
  readonly instanceId: InstanceId | undefined;
  readonly volumeId: VolumeId | undefined;
  readonly generation: number | undefined;
  readonly component: ChargeComponent;
  readonly state: "running" | "loading" | "stopped" | "stored";
  readonly cause: string;
  readonly from: Date;
  readonly to: Date;
  readonly quantity: bigint;
  readonly sizeBytes: bigint | undefined;
  readonly unitPrice: Nanos;
  readonly discountPpm: number;
  readonly amount: Nanos;
  readonly unpaid: Nanos;
  readonly paidFrom: PaidFrom;
  readonly chargedAt: Date;
};

/** The position of a charge line in a list. */
export type LinePlace = Pick<ChargeLine, "id" | "chargedAt">;

type ListedLines = {
  readonly after: LinePlace | undefined;
  readonly isNewestFirst: boolean;
  readonly limit: number;
  /** Only the lines of this instance. */
  readonly instanceId?: InstanceId | undefined;
};

/** Charge lines of the span after a place, in the order of charging or in reverse. */
export async function listLines(
  db: Reader,
  { payerId, from, until }: ChargeSpan,
  { after, isNewestFirst, limit, instanceId }: ListedLines,
): Promise<readonly ChargeLine[]> {
  const direction = isNewestFirst ? "desc" : "asc";
  const query = db
    .selectFrom("charge_lines")
    .selectAll()
    .where("payer_id", "=", payerId)
    .where("charged_at", ">=", from)
    .where("charged_at", "<", until)
    .$if(instanceId !== undefined, (all) => all.where("instance_id", "=", instanceId ?? null))
    .orderBy("charged_at", direction)
    .orderBy("id", direction)
    .limit(limit);
  const comparison = isNewestFirst ? sql`<` : sql`>`;
  const place =
    after && sql<boolean>`(charged_at, id) ${comparison} (${after.chargedAt}::timestamptz, ${after.id}::bigint)`;
  const rows = await (place === undefined ? query : query.where(place)).execute();
  return rows.map((row): ChargeLine => ({
    id: row.id,
    transferId: row.transfer_id ?? undefined,
    hostId: asId<UserId>(row.host_id),
    machineId: row.machine_id ?? undefined,
    instanceId: row.instance_id ?? undefined,
    volumeId: row.volume_id ?? undefined,
    generation: row.generation ?? undefined,
    component: row.component,
    state: row.state,
    cause: row.cause,
    from: row.from_at,
    to: row.to_at,
    quantity: row.quantity,
    sizeBytes: row.size_bytes ?? undefined,
    unitPrice: nanos(row.unit_price_nanos),
    discountPpm: row.discount_ppm,
    amount: nanos(row.amount_nanos),
    unpaid: nanos(row.unpaid_nanos),
    paidFrom: row.paid_from,
    chargedAt: row.charged_at,
  }));
}
