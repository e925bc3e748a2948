import { formatDollars, nanos } from "../../../../../base/money.ts";
import type { InstanceId, MachineId, VolumeId } from "../../../../../base/ids.ts";
import type { InstanceName } from "../../../../rental/instances/index.ts";
import type { EarlyEnd } from "../../../ledger/for-invoices.ts";
import type { ChargeComponent, ChargeSum } from "../../../charging/for-invoices.ts";
import type { VolumeName } from "../../../../supply/volumes/index.ts";
import type { UsageSum } from "./document-usage.ts";
import { measured, rateOf } from "../../rules/quantity.ts";

/**
 * The rules by which an invoice is made. An issued invoice keeps its edition, and the audit checks it by the rules of
 * that edition. 1: charges made in the month; early ends are movements of the balance. 2: usage that happened in the
 * month (`usageIn`); discounts and early ends are invoice lines inside the total.
 */
export type Edition = 1 | 2;

export type LineKind = ChargeComponent | EarlyEnd["code"] | "discount";

export type DocumentLine = {
  /** instance-5 or volume-7; `account` for a fee without either. */
  readonly source: string;
  readonly component: LineKind;
  readonly description: string;
  readonly from_ms: number;
  readonly to_ms: number;
  readonly quantity: number;
  /** Empty for fees and discounts, which have no quantity. */
  readonly unit: string;
  /** Dollars per unit, as decimal text. */
  readonly rate: string;
  /** True when the price changed, contains a discount, or could not be paid in full. */
  readonly is_rate_average: boolean;
  readonly amount_cents: number;
  /** Exact dollars that were also due and could not be paid. */
  readonly unpaid: string;
  /** The rented machine; from edition 2 on, and undefined when it is unknown. */
  readonly machine_id?: number | undefined;
  /** 2× RTX 4090 */
  readonly hardware?: string | undefined;
  readonly label?: string | undefined;
  /** True for usage of an earlier month that was charged too late for that month's invoice. */
  readonly is_late?: boolean | undefined;
};

/** The facts that invoice lines are made from. */
export type LineFacts = {
  readonly names: ReadonlyMap<number, InstanceName>;
  readonly volumeNames: ReadonlyMap<number, VolumeName>;
  readonly gpuModels: ReadonlyMap<MachineId, string>;
  readonly sums: readonly UsageSum[];
  readonly earlyEnds: readonly EarlyEnd[];
};

/** An invoice line whose amount is not rounded yet. */
export type ExactLine = Omit<DocumentLine, "amount_cents"> & { readonly amount: bigint };

const WORDS: Readonly<Record<LineKind, string>> = {
  gpu: "GPU time",
  discount: "Discount for prepaid time",
  discount_returned: "Discount given back on an early end",
  fee: "Fee for an early end",
  disk: "Storage",
  bwd: "Traffic received",
  bwu: "Traffic sent",
};
const ORDER: readonly LineKind[] = ["gpu", "discount", "discount_returned", "fee", "disk", "bwd", "bwu"];

/**
 * The lines of an invoice: each instance with its fees and discounts, then each volume; late usage comes last. Their
 * amounts add up to its total.
 */
export function makeLines(facts: LineFacts, edition: Edition): readonly ExactLine[] {
  if (edition === 1) return facts.sums.map((sum) => plainLine(sum, facts.names));
  const lines = [
    ...facts.sums.flatMap((sum) => usageLines(sum, facts)),
    ...facts.earlyEnds.map((end) => earlyEndLine(end, facts)),
  ];
  const placeOf = ({ instanceId, volumeId }: Placed) => [volumeId ?? 0, instanceId ?? 0] as const;
  return lines
    .toSorted((a, b) => {
      const [[volumeA, instanceA], [volumeB, instanceB]] = [placeOf(a), placeOf(b)];
      const late = Number(a.line.is_late === true) - Number(b.line.is_late === true);
      const kinds = ORDER.indexOf(a.line.component) - ORDER.indexOf(b.line.component);
      return late || volumeA - volumeB || instanceA - instanceB || kinds || a.line.from_ms - b.line.from_ms;
    })
    .map(({ line }) => line);
}

type Placed = {
  readonly instanceId: InstanceId | undefined;
  readonly volumeId: VolumeId | undefined;
  readonly line: ExactLine;
};

/** An invoice line of edition 1. */
function plainLine(sum: ChargeSum, names: LineFacts["names"]): ExactLine {
  const { component, instanceId, volumeId } = sum;
  const { label, unit, quantity } = measured(component, sum.quantity);
  const { rateNanos, isAverage } = rateOf(sum);
  const name = instanceId === undefined ? undefined : names.get(instanceId)?.label;
  const title = instanceId === undefined ? `Volume ${volumeId}` : `Instance ${instanceId}`;
  return {
    source: sourceOf(sum),
    component,
    description: `${title}${name === undefined || name === "" ? "" : ` (${name})`}: ${label}`,
    from_ms: sum.from.getTime(),
    to_ms: sum.to.getTime(),
    quantity,
    unit,
    rate: formatDollars(rateNanos),
    is_rate_average: isAverage,
    amount: sum.amount,
    unpaid: formatDollars(sum.unpaid),
  };
}

/** Usage at its list price, followed by its discount. */
function usageLines(sum: UsageSum, facts: LineFacts): readonly Placed[] {
  const { component, instanceId, volumeId, discount, isLate } = sum;
  const { unit, quantity } = measured(component, sum.quantity);
  const listed = discount === 0n ? sum : { ...sum, amount: nanos(sum.amount + discount), highestDiscountPpm: 0 };
  const { rateNanos, isAverage } = rateOf(listed);
  const common = {
    ...rentedOf({ instanceId, volumeId }, facts),
    ...(isLate ? { is_late: true } : {}),
    source: sourceOf(sum),
    from_ms: sum.from.getTime(),
    to_ms: sum.to.getTime(),
  };
  const suffix = isLate ? ", charged late" : "";
  const usage: ExactLine = {
    ...common,
    component,
    description: describe({ instanceId, volumeId }, component, facts) + suffix,
    quantity,
    unit,
    rate: formatDollars(rateNanos),
    is_rate_average: isAverage,
    amount: listed.amount,
    unpaid: formatDollars(sum.unpaid),
  };
  const lines = [{ instanceId, volumeId, line: usage }];
  if (discount === 0n) return lines;
  const description = describe({ instanceId, volumeId }, "discount", facts) + suffix;
  const line = { ...common, ...single(-discount), component: "discount", description } as const;
  return [...lines, { instanceId, volumeId, line }];
}

function earlyEndLine({ code, instanceId, from, to, amount }: EarlyEnd, facts: LineFacts): Placed {
  const contract = { instanceId, volumeId: undefined };
  const line: ExactLine = {
    ...rentedOf(contract, facts),
    source: sourceOf(contract),
    component: code,
    description: describe(contract, code, facts),
    from_ms: from.getTime(),
    to_ms: to.getTime(),
    ...single(amount),
  };
  return { ...contract, line };
}

/** The fields of a line without a quantity. */
function single(amount: bigint) {
  return { quantity: 1, unit: "", rate: formatDollars(amount), is_rate_average: false, amount, unpaid: "0" } as const;
}

type Contract = Pick<ChargeSum, "instanceId" | "volumeId">;

function sourceOf({ instanceId, volumeId }: Contract): string {
  if (instanceId !== undefined) return `instance-${instanceId}`;
  return volumeId === undefined ? "account" : `volume-${volumeId}`;
}

function rentedOf({ instanceId, volumeId }: Contract, { names, volumeNames, gpuModels }: LineFacts) {
  const volume = volumeId === undefined ? undefined : volumeNames.get(volumeId);
  if (volume !== undefined) {
    const gigabytes = Number(volume.sizeBytes) / 1e9;
    return { machine_id: volume.machineId, hardware: `${gigabytes} GB`, label: volume.name || undefined };
  }
  const instance = instanceId === undefined ? undefined : names.get(instanceId);
  if (instance === undefined) return {};
  const { machineId, deviceCount, label } = instance;
  const model = gpuModels.get(machineId) ?? (deviceCount === 1 ? "CPU core" : "CPU cores");
  return { machine_id: machineId, hardware: `${deviceCount}× ${model}`, label: label || undefined };
}

/** Instance 5 (train), 2× RTX 4090 on machine 12: GPU time */
function describe(contract: Contract, kind: LineKind, facts: LineFacts): string {
  const { instanceId, volumeId } = contract;
  if (instanceId === undefined && volumeId === undefined) return "Fee";
  const { machine_id: machineId, hardware, label } = rentedOf(contract, facts);
  const title = instanceId === undefined ? `Volume ${volumeId}` : `Instance ${instanceId}`;
  const name = label === undefined ? "" : ` (${label})`;
  const rented = hardware === undefined ? "" : `, ${hardware}`;
  const place = machineId === undefined ? "" : ` on machine ${machineId}`;
  return `${title}${name}${rented}${place}: ${WORDS[kind]}`;
}
