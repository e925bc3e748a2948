import { invalid } from "../../../../base/errors.ts";
import { parsePeriod, type Period } from "./period.ts";

/** The content of a report. */
export type ReportPlan = Period & {
  readonly hasCharges: boolean;
  readonly hasPayouts: boolean;
  /** True to include movements of credit: grants, payments, credit transfers, refunds and the like. */
  readonly hasPayments: boolean;
};

/** The query of a report as text. A text that clients send for "not given" (empty, `null`, `None`) counts as absent. */
export type ReportQuery = Readonly<
  Partial<Record<"inc_charges" | "only_payouts" | "no_payouts" | "sdate" | "edate", string | undefined>>
>;

/**
 * Parses the query of the invoice report. `inc_charges` adds charges for usage; `only_payouts` leaves only payouts.
 * Throws `invalid` for malformed or contradictory values.
 */
export function planReport(query: ReportQuery): ReportPlan {
  const given = (name: keyof ReportQuery) => {
    const text = query[name]?.trim();
    // Clients send the text null for an absent value.
    return text === "" || text?.toLowerCase() === "null" || text === "None" ? undefined : text;
  };
  const includesCharges = parseFlag("inc_charges", given("inc_charges"));
  const isOnlyPayouts = parseFlag("only_payouts", given("only_payouts"));
  const isNoPayouts = parseFlag("no_payouts", given("no_payouts"));
  if (isOnlyPayouts && isNoPayouts) {
    throw invalid("only_payouts", "only_payouts and no_payouts contradict each other");
  }
  return {
    ...parsePeriod({ sdate: given("sdate"), edate: given("edate") }),
    hasCharges: includesCharges && !isOnlyPayouts,
    hasPayouts: !isNoPayouts,
    hasPayments: !isOnlyPayouts,
  };
}

export function parseFlag(name: string, text: string | undefined): boolean {
  switch (text?.toLowerCase()) {
    case undefined:
    case "false":
    case "0":
      return false;
    case "true":
    case "1":
      return true;
    default:
      throw invalid(name, `${name} must be true or false`);
  }
}
