import { formatDollars, roundHalfUp, roundToSum } from "../../../../../base/money.ts";
import type { User } from "../../../../people/accounts/index.ts";
import type { EarningsMovement } from "../../../ledger/for-invoices.ts";
import type { EarningSum } from "../../../ledger/index.ts";
import { buyerOf, sellerParty, type AccountParty, type Party } from "../../documents/rules/party.ts";
import type { Seller } from "../../seller.ts";
import { hasTaxId, taxFor, taxWithin, type AppliedTax } from "../../rules/tax.ts";

/** A displayed amount in cents, and the exact amount in nano-dollars as text. */
type Amount = { readonly amount_cents: number; readonly amount_nanos: string };

/** One kind of usage of one machine, or a movement that changed the host's earnings. */
export type StatementLine = Amount & {
  readonly machine_id: number | null;
  /** gpu, disk, bwu or bwd; for movements their code. */
  readonly kind: string;
  readonly description: string;
};

export type TaxedAmount = {
  readonly net_cents: number;
  readonly tax: {
    readonly percent: string;
    readonly amount_cents: number;
    readonly note: string;
    readonly name: string;
    readonly country: string;
    readonly is_reverse_charge: boolean;
  };
  readonly total_cents: number;
};

/** The parts of a host's earnings on the day of issue. */
export type Waiting = Readonly<
  Record<"payable_nanos" | "granted_nanos" | "young_nanos" | "held_nanos" | "debt_nanos", string>
> & { readonly as_of_ms: number };

/** The permanent content of a statement. */
export type StatementContent = {
  readonly seller: Party;
  /** The host. */
  readonly buyer: AccountParty;
  readonly currency: "USD";
  /** Earnings, and negative lines for amounts that were taken back. */
  readonly lines: readonly StatementLine[];
  readonly earned_cents: number;
  readonly earned_nanos: string;
  /** Null in a month without a fee. */
  readonly fee: (TaxedAmount & { readonly amount_nanos: string }) | null;
  /** The host's supply to the seller, when the seller issues the host's invoice; otherwise null. */
  readonly self_billing: TaxedAmount | null;
  /** Payouts, and credit transfers to the host's own credit. */
  readonly movements: readonly (Amount & { readonly code: string; readonly label: string })[];
  readonly opening_cents: number;
  readonly opening_nanos: string;
  /** Fractions of a cent that the balance carries on, so that the column adds up. */
  readonly rounding_cents: number;
  readonly closing_cents: number;
  readonly closing_nanos: string;
  readonly waiting: Waiting;
  /** Earnings less the fee. */
  readonly total_cents: number;
};

export type StatementFacts = {
  readonly seller: Seller;
  readonly userId: number;
  /** The host; undefined when the account was deleted. */
  readonly user: User | undefined;
  readonly gpuModels: ReadonlyMap<number, string>;
  /** Earnings by day; the usage of one machine and kind becomes one line. */
  readonly earned: readonly Pick<EarningSum, "machineId" | "code" | "amount">[];
  readonly moved: readonly EarningsMovement[];
  /** The earnings balance at the end of the month, in nano-dollars. */
  readonly closingNanos: bigint;
  readonly waiting: Waiting;
};

const NANOS_PER_CENT = 10_000_000n;

const KINDS = {
  usage_gpu: ["gpu", "GPU time"],
  usage_storage: ["disk", "Storage"],
  usage_bandwidth_up: ["bwu", "Traffic sent"],
  usage_bandwidth_down: ["bwd", "Traffic received"],
} as const satisfies Record<EarningSum["code"], readonly [string, string]>;
const ORDER = ["usage_gpu", "usage_storage", "usage_bandwidth_up", "usage_bandwidth_down"];

/** Movements that change the earnings of a month. All others move earnings to another account. */
const CORRECTIONS: Readonly<Record<string, string>> = {
  host_credit: "Given back to renters for failures",
  taken_back: "Taken back for returned payments, less what came again",
  earnings_taken_back: "Taken back by an administrator",
  correction: "Corrections by an administrator",
  storage_owed: "Storage paid late",
};
const LABELS: Readonly<Record<string, string>> = {
  payout: "Payouts",
  payout_returned: "Payouts that came back",
  credit_transfer: "Transfers to credit",
  grant_released: "Grants released",
  write_off: "Grants released: paid by the house",
};

/** The earnings balance at the start of the month: the balance at its end less the movements of the month. */
export function openingOfStatement({ earned, moved, closingNanos }: StatementFacts): bigint {
  return closingNanos - sum(earned.map(({ amount }) => amount)) - sum(moved.map(({ amount }) => amount));
}

export function makeStatement(facts: StatementFacts): StatementContent {
  const { seller, user, userId, moved, closingNanos } = facts;
  const buyer = buyerOf(user, userId);
  const about = { country: user?.billing.country ?? "", taxId: user?.billing.taxinfo ?? "" };
  const tax = taxFor(seller, about);
  const opening = openingOfStatement(facts);
  const exact = linesOf(facts);
  const feeNanos = -sum(moved.filter(({ code }) => code === "fee").map(({ amount }) => amount));
  const others = moved.filter(({ code, amount }) => code !== "fee" && !(code in CORRECTIONS) && amount !== 0n);
  const rounded = roundToSum([...exact, ...others].map(({ amount }) => amount).concat(-feeNanos), NANOS_PER_CENT);
  const centsAt = (index: number) => Number((rounded[index] ?? 0n) / NANOS_PER_CENT);
  const lines = exact.map(({ amount, ...line }, index) => ({ ...line, ...amountAt(amount, centsAt(index)) }));
  const movements = others.map(({ code, amount, payoutId }, index) => ({
    code,
    label: payoutId === undefined ? (LABELS[code] ?? "Other movements") : payoutLabel(code, payoutId),
    ...amountAt(amount, centsAt(exact.length + index)),
  }));
  const feeCents = -centsAt(rounded.length - 1);
  const earnedCents = lines.reduce((cents, line) => cents + line.amount_cents, 0);
  const movedCents = movements.reduce((cents, movement) => cents + movement.amount_cents, 0);
  const [openingCents, closingCents] = [centsOf(opening), centsOf(closingNanos)];
  return {
    seller: sellerParty(seller),
    buyer,
    currency: "USD",
    lines,
    earned_cents: earnedCents,
    earned_nanos: String(sum(exact.map(({ amount }) => amount))),
    fee: feeNanos === 0n ? null : { ...taxed(feeCents, tax), amount_nanos: String(feeNanos) },
    self_billing: seller.isSelfBilling && hasTaxId(about) ? taxed(earnedCents, tax) : null,
    movements,
    opening_cents: openingCents,
    opening_nanos: String(opening),
    rounding_cents: closingCents - openingCents - earnedCents - movedCents + feeCents,
    closing_cents: closingCents,
    closing_nanos: String(closingNanos),
    waiting: facts.waiting,
    total_cents: earnedCents - feeCents,
  };
}

/** Lines of each machine, followed by amounts that were taken back. */
function linesOf({ earned, moved, gpuModels }: StatementFacts) {
  const sums = Map.groupBy(earned, ({ machineId, code }) => `${machineId ?? ""} ${code}`);
  const used = [...sums.values()].flatMap((parts) => {
    const [first] = parts;
    const amount = sum(parts.map((part) => part.amount));
    return first === undefined || amount === 0n ? [] : [{ ...first, amount }];
  });
  const machineOf = (machineId: number | undefined) => machineId ?? Number.MAX_SAFE_INTEGER;
  const lines = used
    .toSorted(
      (a, b) => machineOf(a.machineId) - machineOf(b.machineId) || ORDER.indexOf(a.code) - ORDER.indexOf(b.code),
    )
    .map(({ machineId, code, amount }) => {
      const [kind, words] = KINDS[code];
      const model = machineId === undefined ? undefined : gpuModels.get(machineId);
      const place = machineId !== undefined ? `Machine ${machineId}` : kind === "disk" ? "Network disks" : "Deposits";
      const description = `${place}${model === undefined ? "" : ` (${model})`}: ${words}`;
      return { machine_id: machineId ?? null, kind, description, amount };
    });
  const corrections = Object.entries(CORRECTIONS).flatMap(([code, description]) => {
    const amount = sum(moved.filter((movement) => movement.code === code).map((movement) => movement.amount));
    return amount === 0n ? [] : [{ machine_id: null, kind: code, description, amount }];
  });
  return [...lines, ...corrections];
}

function taxed(totalCents: number, { ppm, ...tax }: AppliedTax): TaxedAmount {
  const taxCents = taxWithin(totalCents, ppm);
  return {
    net_cents: totalCents - taxCents,
    tax: {
      percent: formatDollars(BigInt(ppm) * 100_000n),
      amount_cents: taxCents,
      note: tax.note,
      name: tax.name,
      country: tax.country,
      is_reverse_charge: tax.isReverseCharge,
    },
    total_cents: totalCents,
  };
}

function payoutLabel(code: string, payoutId: number): string {
  return `Payout ${payoutId}${code === "payout_returned" ? ", which came back" : ""}`;
}

function amountAt(exact: bigint, cents: number): Amount {
  return { amount_cents: cents, amount_nanos: String(exact) };
}

function centsOf(amount: bigint): number {
  return Number(roundHalfUp(amount, NANOS_PER_CENT) / NANOS_PER_CENT);
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}
