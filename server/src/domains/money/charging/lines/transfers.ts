import type { CapScope, TransferRequest } from "../../ledger/index.ts";
import { creditOf, depositOf, earningsOf } from "../../ledger/index.ts";
import { runningCharge } from "../rules/charges.ts";
import type { Contract } from "./line-store.ts";
import type { Component } from "./lines.ts";
import type { PaidLine } from "../settlement/payment.ts";

const CODES = {
  gpu: "usage_gpu",
  disk: "usage_storage",
  bwu: "usage_bandwidth_up",
  bwd: "usage_bandwidth_down",
} as const satisfies Record<Component, TransferRequest["code"]>;

const WHAT = {
  gpu: "running",
  disk: "storage",
  bwu: "data sent",
  bwd: "data received",
} as const satisfies Record<Component, string>;

/** A paid charge line, the parties of the charge, and the scopes that it counts within. */
export type Charge = { readonly line: PaidLine; readonly contract: Contract; readonly scopes: readonly CapScope[] };

/** The one transfer of a charge line, under a key made of exactly its stretch. */
export function transferOf({ line, contract }: Charge): TransferRequest {
  const { payerId, hostId, machineId, instanceId, volumeId } = contract;
  const { component, generation, paidFrom } = line;
  const isPrepaid = paidFrom === "deposit" && instanceId !== undefined;
  const saved = isPrepaid
    ? runningCharge(line.unitPriceNanos, { fromMs: 0n, toMs: line.quantity }) - line.amountNanos
    : 0n;
  const name = instanceId === undefined ? `Volume ${volumeId}` : `Instance ${instanceId}`;
  return {
    key: line.key,
    debit: isPrepaid ? depositOf(payerId, instanceId) : creditOf(payerId),
    credit: earningsOf(hostId),
    amount: line.amountNanos,
    code: CODES[component],
    cause: {
      ...(instanceId === undefined ? { volume_id: volumeId } : { instance_id: instanceId }),
      ...(generation === undefined ? {} : { generation }),
      ...(machineId === undefined ? {} : { machine_id: machineId }),
      quantity: quantityOf(line),
      ...(isPrepaid ? { discount_nanos: saved.toString() } : {}),
    },
    description: `${name} ${WHAT[component]}${isPrepaid ? ", from its deposit" : ""}`,
  };
}

/** The quantity in the unit of the ledger: seconds, GB-seconds or bytes. */
function quantityOf({ component, quantity, sizeBytes = 0n }: PaidLine): string {
  switch (component) {
    case "gpu":
      return (Number(quantity) / 1000).toString();
    case "disk":
      return (Number(quantity * sizeBytes) / 1e12).toString();
    case "bwu":
    case "bwd":
      return quantity.toString();
  }
}
