import { nanos } from "../../../server/src/base/money.ts";
import { systemClock } from "../../../server/src/base/clock.ts";
import { asId, type InstanceId, type MachineId, type UserId, type VolumeId } from "../../../server/src/base/ids.ts";
import type { Database } from "../../../server/src/db/connect.ts";
import { withTransaction } from "../../../server/src/db/transaction.ts";
import { creditOf, depositOf, earningsOf, postTransfers } from "../../../server/src/domains/money/ledger/index.ts";
import { insertLines } from "../../../server/src/domains/money/charging/lines/line-store.ts";
import type { Component } from "../../../server/src/domains/money/charging/lines/lines.ts";

/** A charge as a settlement would have posted it; absent fields do not matter to the test. */
export type TestCharge = {
  readonly component?: Component;
  readonly amount: bigint;
  readonly unpaid?: bigint;
  /** Quantity in milliseconds or bytes; an hour, or a GB, when left out. */
  readonly quantity?: bigint;
  readonly sizeBytes?: bigint;
  readonly unitPrice?: bigint;
  readonly discountPpm?: number;
  readonly paidFrom?: "credit" | "deposit";
  /** The end of the charged time; the moment of the charge when left out. */
  readonly endedAt?: string;
} & ({ readonly instance?: number } | { readonly volume: number });

const HOUR_MS = 3_600_000;
const CODES = {
  gpu: "usage_gpu",
  disk: "usage_storage",
  bwu: "usage_bandwidth_up",
  bwd: "usage_bandwidth_down",
} as const;

/** Posts charges of one moment: each its transfer and its charge line, in one transaction. */
export async function postCharges(
  database: Database,
  at: string | Date,
  { payer, host }: { readonly payer: UserId; readonly host: UserId },
  charges: readonly TestCharge[],
): Promise<void> {
  const clock = { ...systemClock, now: () => new Date(at) };
  await withTransaction(database, clock, async (tx) => {
    for (const charge of charges) {
      const { component = "gpu", amount, unpaid = 0n, paidFrom = "credit", discountPpm = 0 } = charge;
      const isVolume = "volume" in charge;
      const instance = isVolume ? undefined : asId<InstanceId>(charge.instance ?? 71);
      const key = crypto.randomUUID();
      const contract = isVolume
        ? ({ instanceId: undefined, volumeId: asId<VolumeId>(charge.volume) } as const)
        : ({ instanceId: instance ?? asId<InstanceId>(71), volumeId: undefined } as const);
      const debit = paidFrom === "deposit" && instance !== undefined ? depositOf(payer, instance) : creditOf(payer);
      const [outcome] =
        amount === 0n
          ? []
          : await postTransfers(tx, [
              {
                key,
                debit,
                credit: earningsOf(host),
                amount: nanos(amount),
                code: CODES[component],
                cause: isVolume ? { volume_id: charge.volume } : { instance_id: instance ?? 71, machine_id: 5 },
                description: "for a test",
              },
            ]);
      if (amount > 0n && outcome?.kind !== "posted") throw new Error(`a charge could not be posted: ${outcome?.kind}`);
      const quantity =
        charge.quantity ?? (component === "gpu" || component === "disk" ? BigInt(HOUR_MS) : 1_000_000_000n);
      const toMs = charge.endedAt === undefined ? tx.now.getTime() : Date.parse(charge.endedAt);
      await insertLines(tx, [
        {
          contract: { payerId: payer, hostId: host, machineId: asId<MachineId>(5), ...contract },
          transferId: outcome?.kind === "posted" ? outcome.transferId : undefined,
          key,
          component,
          generation: component === "disk" ? undefined : 1,
          state: isVolume ? "stored" : "running",
          cause: isVolume ? "volume_exists" : "container_running",
          fromMs: toMs - (component === "gpu" || component === "disk" ? Number(quantity) : HOUR_MS),
          toMs,
          quantity,
          sizeBytes: component === "disk" ? (charge.sizeBytes ?? 1_000_000_000n) : undefined,
          unitPriceNanos: charge.unitPrice ?? amount,
          discountPpm,
          amountNanos: nanos(amount),
          unpaidNanos: nanos(unpaid),
          paidFrom,
        },
      ]);
    }
  });
}
