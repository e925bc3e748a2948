import type { UserId } from "../../../../../base/ids.ts";
import { roundHalfUp } from "../../../../../base/money.ts";
import type { MovementCode, PostedMovement } from "../../../ledger/for-invoices.ts";
import type { DocumentContent } from "../../documents/rules/document.ts";
import type { AccountParty, Party } from "../../documents/rules/party.ts";
import { ppmOf, taxWithin } from "../../rules/tax.ts";

/** The permanent content of a credit note. Amounts are negative: they reduce those of the invoice. */
export type CreditNoteContent = {
  /** The parties of the invoice. */
  readonly seller: Party;
  readonly buyer: AccountParty;
  readonly currency: "USD";
  readonly invoice: {
    readonly number: string;
    readonly issued_at_ms: number;
    readonly from_ms: number;
    readonly until_ms: number;
  };
  /** Counted from 1; null for the whole invoice. */
  readonly invoice_line: number | null;
  /** The words of that invoice line. */
  readonly description: string;
  readonly reason: string;
  readonly credited_at_ms: number;
  readonly amount_nanos: string;
  readonly net_cents: number;
  /** The tax of the invoice, with the part that is credited. */
  readonly tax: DocumentContent["tax"];
  readonly total_cents: number;
  readonly transfer_id: string;
};

/** Codes under which usage is credited. Returned payments correct no invoice: they have receipts. */
export const CREDIT_NOTE_CODES = ["host_credit", "correction"] as const satisfies readonly MovementCode[];

/** The running time of an instance, or the invoice and line (counted from 1) that an administrator named. */
export type CreditedUsage =
  | { readonly kind: "instance"; readonly instanceId: number }
  | { readonly kind: "invoice"; readonly number: string; readonly line: number | undefined };

export type CreditFacts = {
  readonly userId: UserId;
  readonly about: CreditedUsage;
  /** Nano-dollars, above zero. */
  readonly amount: bigint;
  readonly reason: string;
};

const REASONS: Readonly<Record<string, string>> = {
  host_lost: "the machine was lost while it had the run",
  host_stopped: "the machine stopped the run by itself",
  device_fault: "a GPU of the machine was sick when the run ended",
};

const NANOS_PER_CENT = 10_000_000n;

/** The facts of a credit note for this movement; undefined when it needs none. Amounts below half a cent need none. */
export function creditFactsOf({ code, credit, amount, cause }: PostedMovement): CreditFacts | undefined {
  const isPrepaid = credit.kind === "credit" || credit.kind.startsWith("deposit:");
  if (!isPrepaid || credit.userId === undefined || centsOf(amount) === 0) return undefined;
  const { userId } = credit;
  if (code === "correction") {
    const about = invoiceIn(String(cause["reference"]));
    return about && { userId, about, amount, reason: String(cause["reason"]) };
  }
  const instanceId = cause["instance_id"];
  if (typeof instanceId !== "number") return undefined;
  const reason = REASONS[String(cause["reason"])] ?? "the host failed";
  return { userId, about: { kind: "instance", instanceId }, amount, reason };
}

/** Parses `2026-000042`, or `2026-000042/3` for its third line; undefined for any other reference. */
function invoiceIn(reference: string): CreditedUsage | undefined {
  const [, number, line] = /^([A-Z0-9-]{0,16}\d{4}-\d{6,})(?:\/([1-9]\d{0,5}))?$/.exec(reference.trim()) ?? [];
  if (number === undefined) return undefined;
  return { kind: "invoice", number, line: line === undefined ? undefined : Number(line) };
}

/** `index` is undefined for the whole invoice. */
export type CorrectedLine = { readonly invoice: Corrected; readonly index: number | undefined };

/** An invoice that a credit note can refer to. */
export type Corrected = {
  readonly number: string;
  readonly from: Date;
  readonly until: Date;
  readonly issuedAt: Date;
  readonly content: DocumentContent;
};

/**
 * The invoice and line of the credited running time: the newest invoice with that much of it, else the newest with
 * running time of the instance. `invoices` are those of the month of the credit and before, newest first.
 */
export function correctedLine(
  { instanceId, amount }: { readonly instanceId: number; readonly amount: bigint },
  invoices: readonly Corrected[],
): CorrectedLine | undefined {
  const found = invoices.flatMap((invoice) =>
    invoice.content.lines.flatMap((line, index) =>
      line.source === `instance-${instanceId}` && line.component === "gpu"
        ? [{ invoice, index, cents: line.amount_cents }]
        : [],
    ),
  );
  return found.find(({ cents }) => cents >= centsOf(amount)) ?? found[0];
}

export function makeCreditNote(
  movement: PostedMovement,
  { amount, reason }: CreditFacts,
  { invoice, index }: CorrectedLine,
): CreditNoteContent {
  const { number, issuedAt, from, until, content } = invoice;
  return {
    seller: content.seller,
    buyer: content.buyer,
    currency: "USD",
    invoice: {
      number,
      issued_at_ms: issuedAt.getTime(),
      from_ms: from.getTime(),
      until_ms: until.getTime(),
    },
    invoice_line: index === undefined ? null : index + 1,
    description: (index === undefined ? undefined : content.lines[index]?.description) ?? `Invoice ${number}`,
    reason,
    credited_at_ms: movement.createdAt.getTime(),
    transfer_id: String(movement.id),
    ...creditedAmounts(amount, content.tax),
  };
}

/** The amounts of a credit note, which must stay right forever. The tax is the invoice's tax on the credited amount. */
export function creditedAmounts(amount: bigint, tax: DocumentContent["tax"]) {
  const totalCents = -centsOf(amount);
  const taxCents = taxWithin(totalCents, ppmOf(tax.percent));
  return {
    amount_nanos: String(-amount),
    net_cents: totalCents - taxCents,
    tax: { ...tax, amount_cents: taxCents },
    total_cents: totalCents,
  };
}

function centsOf(amount: bigint): number {
  return Number(roundHalfUp(amount, NANOS_PER_CENT) / NANOS_PER_CENT);
}
