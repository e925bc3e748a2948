import { epochSeconds } from "../../../../base/clock.ts";
import { formatDollars, roundHalfUp, roundToTotal, toDollars } from "../../../../base/money.ts";
import { dayText } from "../../../../base/moment.ts";
import type { InstanceName } from "../../../rental/instances/index.ts";
import type { ChargeComponent, ChargeKey, ChargeLine, ChargeSum } from "../../charging/for-invoices.ts";
import type { Workplace } from "../../../serverless/index.ts";
import type { ChargeLineRow, ChargeRow } from "./charge-schema.ts";
import { measured } from "../rules/quantity.ts";

/** Amounts are shown to a thousandth of a dollar. */
const UNIT_NANOS = 1_000_000n;
const DAY_MS = 86_400_000;
const ORDER: readonly ChargeComponent[] = ["gpu", "disk", "bwd", "bwu"];

/** The facts that rows of a page show beside their sums. */
export type ChargeFacts = {
  readonly names: ReadonlyMap<number, InstanceName>;
  readonly workplaces: ReadonlyMap<number, Workplace>;
};

/** A row before rounding: its parts are exact, and are rounded so that they add up to the rounded row. */
type Node = Omit<ChargeRow, "amount" | "amount_exact" | "items"> & {
  readonly amountNanos: bigint;
  readonly parts: readonly Node[];
};

/** The row of one key from its sums: one for each component, or for each component of each instance of an endpoint. */
export function viewCharge(key: ChargeKey, sums: readonly ChargeSum[], facts: ChargeFacts): ChargeRow {
  const node = nodeOf(key, sums, facts);
  return rounded(node, roundHalfUp(node.amountNanos, UNIT_NANOS));
}

function rounded({ amountNanos, parts, ...row }: Node, shownNanos: bigint): ChargeRow {
  const exact = parts.map((part) => part.amountNanos);
  const shown = parts.length === 0 ? [] : roundToTotal(exact, UNIT_NANOS, shownNanos);
  return {
    ...row,
    amount: toDollars(shownNanos),
    amount_exact: formatDollars(amountNanos),
    items: parts.map((part, index) => rounded(part, shown[index] ?? 0n)),
  };
}

function nodeOf(key: ChargeKey, sums: readonly ChargeSum[], facts: ChargeFacts): Node {
  const day = dayText(new Date(key.day * DAY_MS));
  if (key.kind !== "endpoint") {
    const isVolume = key.kind === "volume";
    const title = `${isVolume ? "Volume" : "Instance"} ${key.id}, ${day}`;
    const metadata = isVolume ? {} : metadataOf(key.id, facts);
    return contractNode(`${isVolume ? "volume" : "instance"}-${key.id}`, key.kind, title, sums, metadata);
  }
  return endpointNode(key, sums, facts);
}

/** An endpoint, its worker groups, and the instances of each. */
function endpointNode(key: ChargeKey, sums: readonly ChargeSum[], facts: ChargeFacts): Node {
  const day = dayText(new Date(key.day * DAY_MS));
  const workplaceOf = (sum: ChargeSum) => facts.workplaces.get(sum.instanceId ?? 0);
  const groups = [...Map.groupBy(sums, (sum) => workplaceOf(sum)?.workerGroupId)].map(([known, own]) => {
    // Workers from before there were worker groups belong to the one with the id of their endpoint.
    const id = known ?? key.id;
    const instances = [...Map.groupBy(own, (sum) => sum.instanceId ?? 0)]
      .toSorted(([a], [b]) => a - b)
      .map(([instanceId, its]) =>
        contractNode(
          `instance-${instanceId}`,
          "serverless",
          `Instance ${instanceId}, ${day}`,
          its,
          metadataOf(instanceId, facts),
        ),
      );
    const whose = known === undefined ? `Workers of endpoint ${key.id}` : `Worker group ${id} of endpoint ${key.id}`;
    const metadata = { endpoint_id: key.id, workergroup_id: id };
    return { id, node: around(`workergroup-${id}`, `${whose}, ${day}`, instances, metadata) };
  });
  const [first] = groups;
  const name = sums.map((sum) => workplaceOf(sum)?.endpointName ?? "").find((known) => known !== "");
  return around(
    `endpoint-${key.id}`,
    `Endpoint ${key.id}${name === undefined ? "" : ` (${name})`}, ${day}`,
    groups.toSorted((a, b) => a.id - b.id).map(({ node }) => node),
    { endpoint_id: key.id, ...(groups.length === 1 && first !== undefined ? { workergroup_id: first.id } : {}) },
  );
}

/** Facts without a value are left out: published clients print each that is there, null too. */
function metadataOf(instanceId: number, { names, workplaces }: ChargeFacts): ChargeRow["metadata"] {
  const { templateId, label } = names.get(instanceId) ?? {};
  const workplace = workplaces.get(instanceId);
  return {
    ...(templateId === undefined ? {} : { template_id: templateId }),
    ...(label === undefined ? {} : { label }),
    ...(workplace === undefined
      ? {}
      : { endpoint_id: workplace.endpointId, workergroup_id: workplace.workerGroupId ?? workplace.endpointId }),
  };
}

function around(source: string, description: string, parts: readonly Node[], metadata: ChargeRow["metadata"]): Node {
  return {
    start: Math.min(...parts.map((part) => part.start)),
    end: Math.max(...parts.map((part) => part.end)),
    type: "serverless",
    source,
    description,
    metadata,
    amountNanos: parts.reduce((total, part) => total + part.amountNanos, 0n),
    parts,
  };
}

function contractNode(
  source: string,
  type: string,
  description: string,
  sums: readonly ChargeSum[],
  metadata: ChargeRow["metadata"],
): Node {
  const parts = sums
    .toSorted((a, b) => ORDER.indexOf(a.component) - ORDER.indexOf(b.component))
    .map((sum) => componentNode(sum));
  return { ...around(source, description, parts, metadata), type };
}

function componentNode({ component, quantity: counted, amount, unpaid, from, to, ...sum }: ChargeSum): Node {
  const { label, unit, quantity } = measured(component, counted);
  const price = sum.lowestPrice === sum.highestPrice ? ` at $${formatDollars(sum.lowestPrice)} per ${unit}` : "";
  const discount = sum.highestDiscountPpm > 0 ? ", less the discount for prepaying" : "";
  return {
    start: epochSeconds(from),
    end: epochSeconds(to),
    type: component,
    source: null,
    description: `${label}: ${quantity} ${unit}${price}${discount}`,
    metadata: { quantity, unit, ...(unpaid > 0n ? { unpaid: formatDollars(unpaid) } : {}) },
    amountNanos: amount,
    parts: [],
  };
}

const BYTES_PER_GB = 1e9;

/** A charge line with all fields that its amount follows from, so that anybody can verify it. */
export function viewLine(line: ChargeLine): ChargeLineRow {
  const { component, quantity, sizeBytes, instanceId, volumeId } = line;
  const counted = measured(component, quantity * (sizeBytes ?? 1n));
  return {
    id: Number(line.id),
    start: epochSeconds(line.from),
    end: epochSeconds(line.to),
    type: component,
    source: sourceOf(line),
    description: `${counted.label}: ${counted.quantity} ${counted.unit} at $${formatDollars(line.unitPrice)}, ${line.state} (${line.cause})`,
    amount: toDollars(line.amount),
    amount_exact: formatDollars(line.amount),
    state: line.state,
    cause: line.cause,
    instance_id: instanceId ?? null,
    volume_id: volumeId ?? null,
    machine_id: line.machineId ?? null,
    generation: line.generation ?? null,
    quantity: Number(quantity),
    size_gb: sizeBytes === undefined ? null : Number(sizeBytes) / BYTES_PER_GB,
    unit_price: formatDollars(line.unitPrice),
    discount: line.discountPpm / 1e6,
    unpaid: formatDollars(line.unpaid),
    paid_from: line.paidFrom,
    charged_at: epochSeconds(line.chargedAt),
    metadata: {},
    items: [],
  };
}

export function sourceOf({ instanceId, volumeId }: Pick<ChargeLine, "instanceId" | "volumeId">): string {
  return instanceId === undefined ? `volume-${volumeId ?? 0}` : `instance-${instanceId}`;
}
