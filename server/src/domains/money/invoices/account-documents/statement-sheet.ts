import { formatDollars } from "../../../../base/money.ts";
import { dayText } from "../../../../base/moment.ts";
import { periodText, taxTotals } from "../documents/document-sheet.ts";
import { amountsTable, centsText, partyOf, row, type Sheet, type SheetTable } from "../documents/rules/sheet.ts";
import type { Statement } from "./rules/account-document.ts";
import type { StatementContent, TaxedAmount } from "./rules/statement.ts";

const COLUMNS = [
  { title: "What", share: 80, isNumber: false },
  { title: "Amount", share: 20, isNumber: true },
];

export function sheetOfStatement({ number, issuedAt, month, content }: Statement): Sheet {
  const { seller, buyer, fee, self_billing: selfBilling } = content;
  return {
    title: "Statement of earnings",
    number,
    fileName: "statement",
    subtitle:
      selfBilling === null
        ? ""
        : `Self-billing (Gutschrift): ${seller.name} invoices the supply of ${buyer.name}, as both have agreed.`,
    issuer: seller.name,
    issuedAt,
    parties: [partyOf("Platform", seller), partyOf("Host", buyer, buyer.email)],
    facts: [
      ["Number", number],
      ["Issued", dayText(issuedAt)],
      ...(month === undefined ? [] : [["Period", periodText(month)] as const]),
      ["Currency", content.currency],
    ],
    tables: [
      earnedTable(content),
      ...(fee === null ? [] : [feeTable(fee)]),
      balanceTable(content),
      waitingTable(content),
    ],
    notes: notesOf(content),
  };
}

function earnedTable({ lines, earned_cents: earned, self_billing: selfBilling }: StatementContent): SheetTable {
  return {
    caption: selfBilling === null ? "Earned in USD" : "Supplied by the host, in USD",
    columns: COLUMNS,
    rows: lines.map(({ description, amount_cents: cents }) => row([description, centsText(cents)])),
    empty: "Nothing was earned in this month.",
    totals:
      selfBilling === null
        ? [{ label: "Earned in USD", amount: centsText(earned), isStrong: true }]
        : taxTotals(selfBilling),
  };
}

function feeTable(fee: TaxedAmount): SheetTable {
  return {
    caption: "Platform fee in USD, supplied by the platform",
    columns: COLUMNS,
    rows: [row(["Fee of the payouts that were made in this month", centsText(fee.total_cents)])],
    empty: "",
    totals: taxTotals(fee),
  };
}

function balanceTable(content: StatementContent): SheetTable {
  const { fee, movements, rounding_cents: rounding } = content;
  const rows: readonly (readonly [string, number])[] = [
    ["Earned, less what was taken back", content.earned_cents],
    ...(fee === null ? [] : [["Platform fee", -fee.total_cents] as const]),
    ...movements.map(({ label, amount_cents: cents }) => [label, cents] as const),
    ...(rounding === 0 ? [] : [["Fractions of a cent carried on", rounding] as const]),
  ];
  const strong = (label: string, cents: number) => row([label, centsText(cents)], { isStrong: true });
  return amountsTable("Balance of earnings in USD", "Movement", [
    strong("Opening balance", content.opening_cents),
    ...rows.map(([label, cents]) => row([label, centsText(cents)])),
    strong("Closing balance", content.closing_cents),
  ]);
}

const REASONS = [
  ["payable_nanos", "Payable"],
  ["held_nanos", "Held: payouts to this account are stopped"],
  ["young_nanos", "Waits: came of card payments that may still be disputed"],
  ["granted_nanos", "Waits: came of credit that was granted"],
  ["debt_nanos", "Owed by the host"],
] as const;

function waitingTable({ waiting }: StatementContent): SheetTable {
  const rows = REASONS.filter(([name]) => name === "payable_nanos" || waiting[name] !== "0");
  const digits = Math.max(2, ...rows.map(([name]) => fractionOf(waiting[name]).length));
  return amountsTable(
    `Earnings on the day of issue, ${dayText(new Date(waiting.as_of_ms))}, in USD`,
    "State",
    rows.map(([name, words]) => row([words, exactText(waiting[name], digits)])),
  );
}

/**
 * An exact amount, since the parts must add up visibly, with equally many digits, so that decimal points are aligned.
 */
function exactText(amountNanos: string, digits: number): string {
  const [whole = ""] = formatDollars(BigInt(amountNanos)).split(".");
  return `${whole.replace(/\B(?=(\d{3})+$)/g, ",")}.${fractionOf(amountNanos).padEnd(digits, "0")}`;
}

function fractionOf(amountNanos: string): string {
  return formatDollars(BigInt(amountNanos)).split(".")[1] ?? "";
}

function notesOf({ fee, self_billing: selfBilling, buyer }: StatementContent): readonly string[] {
  const ofFee = fee === null || fee.tax.note === "" ? [] : [`Platform fee: ${fee.tax.note}`];
  const ofSupply =
    selfBilling === null || selfBilling.tax.note === "" ? [] : [`Supply of the host: ${selfBilling.tax.note}`];
  const objection =
    selfBilling === null ? [] : [`${buyer.name} may object to this self-billed invoice; it then has no effect as one.`];
  return [...ofFee, ...ofSupply, ...objection];
}
