/** The checks of an audit, each with the sentence that must hold. */
export const CHECKS = {
  balances: "Balances sum to zero, and each is the sum of its transfers",
  granted: "The granted part of a balance is the sum of the granted parts of its transfers",
  held: "The held amount of an account is the sum of its pending holds",
  caps: "A cap counts the holds and charges of its period, and its limit is the one that its owner set",
  amounts: "Each charge line costs its quantity at its price",
  transfers: "Each paid charge line has its transfer, with the same amount, accounts and time",
  pairs: "Each charge of usage in the ledger has exactly one charge line",
  counters: "The charge lines of a run add up to its charged counters, and to no more than it counted",
  terms: "Each charge line has the price and the discount of its time",
  intervals: "Charge lines begin where the last ones ended, and none before the first proven running",
  coverage: "Storage is charged for all time in which its machine was in touch, and for no other",
  deposits: "A deposit holds the prepaid amount, less its charge lines and returned amounts",
  payments: "Each payment and payout has its transfers, and each of these transfers has its payment or payout",
  returns: "Each returned payment is booked, by its transfers",
  faults: "Credit for a host's fault equals its note, and is no more than was paid for the run",
  arrears: "Credit may go below zero only in arrears, and write-offs equal what the arrears say",
  days: "The sums of a day equal its charge lines",
  invoices: "Each document states the usage and movements of its time, and no due document and no number is missing",
  leases: "An instance has GPUs exactly when its phase has GPUs",
  holds: "Each pending hold belongs to exactly one instance, which names it and is not settled to its end",
  schedules: "Everything that may still cost something has a date for its settlement",
  facts: "The people who moved money and set limits are those in the signed chain of facts",
  seals: "Transfers and charge lines before a checkpoint are what they were when it was stored",
} as const;

export type CheckName = keyof typeof CHECKS;
export const CHECK_NAMES: readonly CheckName[] = Object.keys(CHECKS).filter(
  (name): name is CheckName => name in CHECKS,
);

/** A row that differs from what it should be. */
export type Difference = {
  /** `line 12`, `account 3`, `instance 7`. */
  readonly subject: string;
  readonly problem: string;
  readonly stored: string;
  readonly expected: string;
};

export type CheckResult = {
  readonly name: CheckName;
  readonly title: string;
  /** The number of rows that were examined. */
  readonly examinedCount: number;
  readonly differenceCount: number;
  /** The first differences. */
  readonly differences: readonly Difference[];
};

export type Tally = {
  readonly examine: (check: CheckName, count: number) => void;
  readonly differ: (check: CheckName, difference: Difference) => void;
  readonly results: () => readonly CheckResult[];
};

/** Counts all differences and keeps the first ones of each check: a broken table may have millions. */
export function createTally(keptMax: number): Tally {
  const examined = new Map<CheckName, number>();
  const counts = new Map<CheckName, number>();
  const kept = new Map<CheckName, Difference[]>();
  return {
    examine: (check, count) => void examined.set(check, (examined.get(check) ?? 0) + count),
    differ: (check, difference) => {
      counts.set(check, (counts.get(check) ?? 0) + 1);
      const own = kept.get(check) ?? [];
      if (own.length < keptMax) kept.set(check, [...own, difference]);
    },
    results: () =>
      CHECK_NAMES.map((name) => ({
        name,
        title: CHECKS[name],
        examinedCount: examined.get(name) ?? 0,
        differenceCount: counts.get(name) ?? 0,
        differences: kept.get(name) ?? [],
      })),
  };
}

/** Reports a difference of the row. */
export type Report = (check: CheckName, difference: Omit<Difference, "subject">) => void;

/** Reports two values that should be equal and are not. */
export function compare(
  report: Report,
  check: CheckName,
  problem: string,
  { stored, expected }: { readonly stored: string | bigint | number; readonly expected: string | bigint | number },
): void {
  if (stored === expected) return;
  report(check, { problem, stored: String(stored), expected: String(expected) });
}

export function instant(time: Date): string {
  return time.toISOString();
}
