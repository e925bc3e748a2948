/** What an audit looks at, and in one sentence what has to be so. */
export const CHECKS = {
  balances: "Balances sum to zero, and each is what its transfers make it",
  granted: "The granted part of a balance is what the granted parts of its transfers make it",
  held: "What an account has set aside is the sum of its pending holds",
  caps: "What counts against a cap is what is held and was charged in its period, and its limit is what its owner set",
  amounts: "Each line costs its quantity at its price",
  transfers: "Each line that was paid has its transfer: same amount, same sides, same instant",
  pairs: "Each charge of usage in the ledger has exactly one line",
  counters: "The lines of a run are what it was charged for, no more than it counted",
  terms: "Each line has the price and the discount of its time",
  intervals: "Lines begin where the last ones ended, and none before the first proven running",
  coverage: "Storage is charged for all the time in which its machine was in touch, and for no other",
  deposits: "A deposit has what was prepaid, less what its lines took and what went back",
  payments: "Each payment and each payout has its transfers, and each of those its payment or payout",
  returns: "What went back of payments was booked, by its transfers",
  faults: "What was given back for a fault of a host is what its note says, and no more than was paid for the run",
  arrears: "Credit may go below zero in arrears alone, and what was written off is what they say",
  days: "The sums of a day are what its lines come to",
  invoices: "Each document says what was used and moved, and neither one that is due nor a number is missing",
  leases: "Who has devices is in a phase that has devices, and the other way round",
  holds: "Each pending hold belongs to one instance that is not settled to its end, and which names it",
  schedules: "Whatever may still come to cost something is due to be settled at some time",
  facts: "Who moved money and set limits is what the signed chain of facts says",
  seals: "Transfers and charge lines before a checkpoint are what they were when it was stored",
} as const;

export type CheckName = keyof typeof CHECKS;
export const CHECK_NAMES: readonly CheckName[] = Object.keys(CHECKS).filter(
  (name): name is CheckName => name in CHECKS,
);

/** One row that is not what it should be. */
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
  /** How many rows were looked at. */
  readonly examinedCount: number;
  readonly differenceCount: number;
  /** The first of them. */
  readonly differences: readonly Difference[];
};

export type Tally = {
  readonly examine: (check: CheckName, count: number) => void;
  readonly differ: (check: CheckName, difference: Difference) => void;
  readonly results: () => readonly CheckResult[];
};

/** Counts everything, and keeps the first differences of each check: a broken table may have millions. */
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

/** Reports what is not as expected. */
export type Report = (check: CheckName, difference: Omit<Difference, "subject">) => void;

/** A report of values that should be the same. */
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
