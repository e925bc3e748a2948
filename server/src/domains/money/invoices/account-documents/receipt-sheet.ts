import { formatDollars } from "../../../../base/money.ts";
import { dayText } from "../../../../base/moment.ts";
import { minuteText } from "../documents/document-sheet.ts";
import { centsText, partyOf, row, type Sheet } from "../documents/rules/sheet.ts";
import type { Receipt } from "./rules/account-document.ts";
import type { ReceiptContent, ReceiptEvent } from "./rules/receipt.ts";

const TITLES = {
  payment: "Receipt",
  refund: "Refund receipt",
  dispute: "Receipt for a disputed payment",
  dispute_won: "Receipt for a restored payment",
} as const satisfies Record<ReceiptEvent, string>;

const WORDS = {
  payment: "Payment received",
  refund: "Payment returned",
  dispute: "Payment taken back by the card's bank, as it is disputed",
  dispute_won: "Payment restored: the dispute was decided for the seller",
} as const satisfies Record<ReceiptEvent, string>;

const NOTE =
  "The amount was added to the account's credit. This receipt is no invoice and has no tax: what the credit is used for, " +
  "and its tax, is on the invoices of the months of use.";
const RETURN_NOTE =
  "The amount left the account's credit. It corrects no invoice: invoices list usage, regardless of how it was paid.";

/** The method of the payment or return is in the second column. */
const columns = (isBack: boolean) => [
  { title: "What", share: 50, isNumber: false },
  { title: isBack ? "Returned to" : "Paid by", share: 30, isNumber: false },
  { title: "Amount", share: 20, isNumber: true },
];

export function sheetOfReceipt({ number, issuedAt, refersTo, content }: Receipt): Sheet {
  const { event, seller, buyer, method, paid_at_ms: paidAtMs, payment_id: paymentId } = content;
  const isBack = event === "refund" || event === "dispute";
  return {
    title: TITLES[event],
    number,
    fileName: "receipt",
    subtitle: refersTo === undefined ? "" : `Refers to receipt ${refersTo}.`,
    issuer: seller.name,
    issuedAt,
    parties: [partyOf("From", seller), partyOf("To", buyer, buyer.email)],
    facts: [
      ["Number", number],
      ["Issued", dayText(issuedAt)],
      [isBack ? "Returned" : "Paid", `${dayText(new Date(paidAtMs))} (UTC)`],
      ...(refersTo === undefined ? [] : [["Refers to", refersTo] as const]),
      ...(paymentId === null ? [] : [["Payment", String(paymentId)] as const]),
      ["Transfer", content.transfer_id],
      ["Currency", content.currency],
    ],
    tables: [
      {
        caption: isBack ? "Return in USD" : "Payment in USD",
        columns: columns(isBack),
        rows: [row([WORDS[event], method, amountText(content)], { note: `${minuteText(paidAtMs)} UTC` })],
        empty: "",
        totals: [{ label: isBack ? "Returned in USD" : "Paid in USD", amount: amountText(content), isStrong: true }],
      },
    ],
    notes: [isBack ? RETURN_NOTE : NOTE],
  };
}

/** The amount in cents; with all digits when an administrator granted fractions of a cent. */
function amountText({ total_cents: cents, amount_nanos: exact }: ReceiptContent): string {
  return BigInt(cents) * 10_000_000n === BigInt(exact) ? centsText(cents) : formatDollars(BigInt(exact));
}
