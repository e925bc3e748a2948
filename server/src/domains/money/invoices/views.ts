import { epochSeconds } from "../../../base/clock.ts";
import { toDollars, type Nanos } from "../../../base/money.ts";
import { viewReportHeading, type User } from "../../people/accounts/index.ts";
import type { Movement } from "../ledger/for-invoices.ts";
import type { DaySum } from "../charging/for-invoices.ts";
import { netAmount, serviceOf } from "./movements/rules/movements.ts";
import { measured, rateOf } from "./rules/quantity.ts";
import type { InvoiceItem, InvoicesResponse } from "./schema.ts";

export type Current = { readonly charges: Nanos; readonly serviceFee: Nanos; readonly credit: Nanos };

/** The invoice report of the API, with further item keys that published clients read. */
export function viewReport(user: User, items: readonly InvoiceItem[], current: Current): InvoicesResponse {
  return {
    invoices: [...items],
    ...viewReportHeading(user),
    bill_to: viewBillTo(user),
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

/** A movement as an item: positive for money that came in and for payouts, negative for credit sent to others. */
export function viewPayment(movement: Movement): InvoiceItem {
  const isPayout = movement.code === "payout" || movement.code === "payout_returned";
  const amount = toDollars(isPayout ? -netAmount(movement) : netAmount(movement));
  return {
    id: Number(movement.transferId),
    type: "payment",
    service: serviceOf(movement.code),
    amount,
    timestamp: Math.floor(epochSeconds(movement.createdAt)),
    description: movement.description,
    quantity: 1,
    rate: amount,
    last4: "",
    is_credit: movement.direction === "in",
  };
}

/** A fee that was taken from the user's money. */
export function viewFee(movement: Movement): InvoiceItem {
  const amount = toDollars(movement.amount);
  return { ...viewPayment(movement), type: "charge", amount, rate: amount, is_credit: false };
}

/** One day of one component of one instance or volume. */
export function viewUsage(sum: DaySum): InvoiceItem {
  const { instanceId, volumeId, component } = sum;
  const { name, quantity } = measured(component, sum.quantity);
  const dollars = toDollars(sum.amount);
  const source = instanceId === undefined ? `Volume ${volumeId ?? ""}`.trim() : `Instance ${instanceId}`;
  return {
    id: Number(sum.firstLineId),
    type: "charge",
    service: component,
    amount: dollars,
    timestamp: Math.floor(epochSeconds(sum.lastChargedAt)),
    description: `${source}: ${name}`,
    quantity,
    rate: toDollars(rateOf(sum).rateNanos),
    last4: "",
    is_credit: false,
    ...(instanceId === undefined ? {} : { instance_id: instanceId }),
  };
}
