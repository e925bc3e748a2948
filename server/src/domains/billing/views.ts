import { unreachable } from "../../base/invariant.ts";
import { epochSeconds } from "../../base/clock.ts";
import { toDollars, type Nanos } from "../../base/money.ts";
import type { User } from "../accounts/index.ts";
import type { TransferCode, TransferEntry, UsageCode, UsageSum } from "../ledger/index.ts";
import type { InvoiceItem, InvoicesResponse } from "./schema.ts";

export type Current = { readonly charges: Nanos; readonly serviceFee: Nanos; readonly credit: Nanos };

/** core-spec.md "Invoice report", with the item keys that known clients read besides (offer-fields.md §8.2). */
export function viewReport(user: User, items: readonly InvoiceItem[], current: Current): InvoicesResponse {
  const { billing } = user;
  return {
    invoices: [...items],
    username: user.username,
    bill_to: viewBillTo(user),
    email: user.email,
    fullname: user.fullname,
    address1: billing.line1,
    address2: billing.line2,
    city: billing.city,
    zip: billing.zip,
    country: billing.country,
    taxinfo: billing.taxinfo,
    current: {
      charges: toDollars(current.charges),
      service_fee: toDollars(current.serviceFee),
      total: toDollars(current.charges + current.serviceFee),
      credit: toDollars(current.credit),
    },
  };
}

function viewBillTo({ fullname, username, billing }: User): string {
  const { line1, line2, city, zip, country, taxinfo } = billing;
  const town = [city, zip].filter((part) => part !== "").join(", ");
  const lines = [fullname || username, line1, line2, town, country, taxinfo];
  return lines.filter((line) => line !== "").join("\n");
}

/** Money that moved. What came in is positive; credit that went to somebody else is negative; a payout is positive. */
export function viewPayment(entry: TransferEntry): InvoiceItem {
  const isPayout = entry.code === "payout";
  const amount = toDollars(entry.direction === "out" && !isPayout ? -entry.amount : entry.amount);
  return {
    id: Number(entry.transferId),
    type: "payment",
    service: serviceOf(entry.code),
    amount,
    timestamp: Math.floor(epochSeconds(entry.createdAt)),
    description: entry.description,
    quantity: 1,
    rate: amount,
    last4: "",
    is_credit: entry.direction === "in",
  };
}

/** A fee that was taken from the user's credit. */
export function viewFee(entry: TransferEntry): InvoiceItem {
  const amount = toDollars(entry.amount);
  return { ...viewPayment(entry), type: "charge", amount, rate: amount, is_credit: false };
}

/** One day of one component of one instance or volume. */
export function viewUsage(sum: UsageSum): InvoiceItem {
  const { code, instanceId, volumeId, amount } = sum;
  const { name, unitSize } = USAGE[code];
  const quantity = Number(sum.quantity ?? unitSize) / unitSize;
  const dollars = toDollars(amount);
  const source = instanceId === undefined ? `Volume ${volumeId ?? ""}`.trim() : `Instance ${instanceId}`;
  return {
    id: Number(sum.firstTransferId),
    type: "charge",
    service: serviceOf(code),
    amount: dollars,
    timestamp: Math.floor(epochSeconds(sum.lastAt)),
    description: `${source}: ${name}`,
    quantity,
    rate: quantity > 0 ? dollars / quantity : 0,
    last4: "",
    is_credit: false,
    ...(instanceId === undefined ? {} : { instance_id: instanceId }),
  };
}

/** How the ledger's quantities become the contract's units: seconds → hours, GB-seconds → GB-months, bytes → GB. */
const USAGE: Readonly<Record<UsageCode, { readonly name: string; readonly unitSize: number }>> = {
  usage_gpu: { name: "GPU hours", unitSize: 3600 },
  usage_storage: { name: "storage in GB-months", unitSize: 2_592_000 },
  usage_bandwidth_up: { name: "GB sent", unitSize: 1e9 },
  usage_bandwidth_down: { name: "GB received", unitSize: 1e9 },
};

function serviceOf(code: TransferCode): string {
  switch (code) {
    case "credit_granted":
      return "credit";
    case "credit_transfer":
      return "transfer";
    case "usage_gpu":
      return "gpu";
    case "usage_storage":
      return "disk";
    case "usage_bandwidth_up":
      return "bwu";
    case "usage_bandwidth_down":
      return "bwd";
    case "prepay":
      return "instance_prepay";
    case "refund":
    case "payout":
    case "fee":
      return code;
    default:
      return unreachable(code);
  }
}
