import { AppError, insufficientFunds } from "../../../../base/errors.ts";
import { formatDollars, type Nanos } from "../../../../base/money.ts";
import { describeScope, idOfScope, kindOfScope } from "../../../money/ledger/index.ts";
import type { HoldOutcome } from "../../../money/ledger/for-instances.ts";

type Need = {
  /** The subject of a sentence: `this rental`, `instance 7`. */
  readonly what: string;
  readonly amount: Nanos;
  readonly extra?: Readonly<Record<string, unknown>>;
};

/** The refusal when nothing could be set aside: too little credit, or a cap that leaves too little. */
export function refuseHold(
  { shortfallNanos, limitedBy }: Extract<HoldOutcome, { kind: "insufficient" }>,
  { what, amount, extra = {} }: Need,
): AppError {
  const [needed, missing] = [formatDollars(amount), formatDollars(shortfallNanos)];
  const shortfall = Number(missing);
  if (limitedBy.kind === "balance") {
    return insufficientFunds(`Not enough credit: ${what} needs $${needed} set aside, $${missing} more than you have.`, {
      extra: { ...extra, shortfall },
    });
  }
  const { capId, scope, period } = limitedBy;
  const cap = `the cap of ${describeScope(scope)} ${PER[period]}`;
  return new AppError(
    "insufficient_funds",
    "cap_reached",
    `A cap is reached: ${what} needs $${needed} set aside, $${missing} more than ${cap} leaves.`,
    { extra: { ...extra, shortfall, cap_id: capId, scope: kindOfScope(scope), scope_id: idOfScope(scope), period } },
  );
}

const PER = { day: "per day", month: "per month", total: "in total" } as const;
