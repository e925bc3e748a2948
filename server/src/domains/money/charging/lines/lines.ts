import { mulDivFloor, nanos, SECONDS_PER_HOUR, SECONDS_PER_MONTH, type Nanos } from "../../../../base/money.ts";
import { segmentsOf, type Counter, type TermsHistory } from "../../../rental/instances/for-charging.ts";
import { depositShare } from "../rules/charges.ts";
import { daysOf } from "../rules/days.ts";

const MS_PER_SECOND = 1000n;
const MS_PER_HOUR = SECONDS_PER_HOUR * MS_PER_SECOND;
const MS_PER_MONTH = SECONDS_PER_MONTH * MS_PER_SECOND;
const BYTES_PER_GB = 1_000_000_000n;
const PPM = 1_000_000n;

/** `bwu` is sent traffic, `bwd` received traffic. */
export type Component = "gpu" | "disk" | "bwu" | "bwd";
export type LineState = "running" | "loading" | "stopped" | "stored";

/** The fields that decide the price of a charge line (migration 0220). */
export type PricedQuantity = {
  readonly component: Component;
  /** Milliseconds for gpu and disk, bytes for bwu and bwd. */
  readonly quantity: bigint;
  readonly sizeBytes: bigint | undefined;
  readonly unitPriceNanos: bigint;
  readonly discountPpm: number;
};

/** The charge for one stretch of one component at one price, before it is known how much of it can be paid. */
export type DueLine = PricedQuantity & {
  readonly generation: number | undefined;
  readonly state: LineState;
  readonly cause: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly paidFrom: "credit" | "deposit";
  /** Derived from exactly this stretch, so that a repeated settlement makes the same key. */
  readonly key: string;
};

/** The amount of a charge line: price × quantity, rounded down once, in favour of the renter. */
export function lineAmount({
  component,
  quantity,
  sizeBytes = 0n,
  unitPriceNanos,
  discountPpm,
}: PricedQuantity): Nanos {
  const price = unitPriceNanos * (PPM - BigInt(discountPpm));
  switch (component) {
    case "gpu":
      return nanos(mulDivFloor(price, quantity, MS_PER_HOUR * PPM));
    case "disk":
      return nanos(mulDivFloor(price, quantity * sizeBytes, MS_PER_MONTH * BYTES_PER_GB * PPM));
    case "bwu":
    case "bwd":
      return nanos(mulDivFloor(price, quantity, BYTES_PER_GB * PPM));
  }
}

/** The end of a key: the stretch that its line covers, in the line's own unit. */
const STRETCH = /:(\d+)-(\d+)$/;

/**
 * Cuts a charge line at these moments, which are in order. Only a line of time that credit pays can be cut: bytes have
 * no moments, and no cap limits a deposit.
 */
export function cutLine(line: DueLine, cutsMs: readonly number[]): readonly DueLine[] {
  const stretch = STRETCH.exec(line.key);
  if (stretch === null || line.paidFrom === "deposit" || (line.component !== "gpu" && line.component !== "disk")) {
    return [line];
  }
  const begin = BigInt(stretch[1] ?? 0);
  const name = line.key.slice(0, stretch.index);
  const inside = cutsMs.filter((ms) => line.fromMs < ms && ms < line.toMs);
  return [line.fromMs, ...inside].map((fromMs, index) => {
    const toMs = inside[index] ?? line.toMs;
    const [from, to] = [begin + BigInt(fromMs - line.fromMs), begin + BigInt(toMs - line.fromMs)];
    return { ...line, fromMs, toMs, quantity: to - from, key: `${name}:${from}-${to}` };
  });
}

/** The counters of one generation, and how far they are charged. */
export type CountedRun = {
  readonly instanceId: number;
  readonly generation: number;
  /** The start of its process, from which it counts; undefined before it is proven to run. */
  readonly meteredFromAt: Date | undefined;
  readonly runningMs: bigint;
  readonly receivedBytes: bigint;
  readonly sentBytes: bigint;
  readonly chargedMs: bigint;
  readonly chargedReceivedBytes: bigint;
  readonly chargedSentBytes: bigint;
};

/** The deposit of an instance. A closed deposit has returned its remainder; credit pays later charges. */
export type Prepaid = { readonly leftNanos: bigint; readonly isClosed: boolean };

/** The charge lines of one run's running time, and the remainder of the deposit after them. */
export type RunLines = {
  readonly lines: readonly DueLine[];
  readonly leftNanos: bigint;
  /** The saving by the discount on the part that the deposit paid. */
  readonly savedNanos: bigint;
  readonly isSpent: boolean;
};

const RAN = { state: "running", cause: "container_running", sizeBytes: undefined } as const;

/**
 * Charge lines for the running time that is not charged yet, by price and by UTC day. A deposit pays first, at its
 * discount; once its remainder does not pay another millisecond, credit pays the full price. Free time makes no charge
 * line: only the counters show that it ran.
 */
export function gpuLines(run: CountedRun, history: TermsHistory, prepaid: Prepaid | undefined): RunLines {
  const lines: DueLine[] = [];
  let leftNanos = prepaid?.leftNanos ?? 0n;
  let savedNanos = 0n;
  let isSpent = false;
  if (run.meteredFromAt === undefined) return { lines, leftNanos, savedNanos, isSpent };
  const originMs = run.meteredFromAt.getTime();
  const add = (from: bigint, to: bigint, unitPriceNanos: bigint, rest: Pick<DueLine, "discountPpm" | "paidFrom">) => {
    if (to <= from) return;
    const [fromMs, toMs] = [originMs + Number(from), originMs + Number(to)];
    const key = `run:${run.instanceId}:${run.generation}:${from}-${to}`;
    const stretch = { component: "gpu", generation: run.generation, fromMs, toMs, quantity: to - from, key } as const;
    lines.push({ ...RAN, ...stretch, unitPriceNanos, ...rest });
  };
  const counted = { from: run.chargedMs, to: run.runningMs };
  const segments = segmentsOf(history, { generation: run.generation, counter: "runningMs" }, counted);
  for (const { from, to, terms } of segments) {
    const { priceNanosPerHour, discountPpm } = terms;
    if (priceNanosPerHour === 0n) continue;
    for (const [fromMs, toMs] of daysOf(originMs + Number(from), originMs + Number(to))) {
      const day = { fromMs: BigInt(fromMs - originMs), toMs: BigInt(toMs - originMs) };
      // Rounding may leave the price of a millisecond in a deposit that is used up; it still counts as used up.
      if (discountPpm === 0 || prepaid === undefined || isSpent) {
        add(day.fromMs, day.toMs, priceNanosPerHour, { discountPpm: 0, paidFrom: "credit" });
      } else if (prepaid.isClosed) {
        add(day.fromMs, day.toMs, priceNanosPerHour, { discountPpm, paidFrom: "credit" });
      } else {
        const share = depositShare({ leftNanos, discountPpm, priceNanosPerHour }, day);
        leftNanos -= share.amount;
        savedNanos += share.savedNanos;
        isSpent = share.isSpent;
        add(day.fromMs, share.toMs, priceNanosPerHour, { discountPpm, paidFrom: "deposit" });
        add(share.toMs, day.toMs, priceNanosPerHour, { discountPpm: 0, paidFrom: "credit" });
      }
    }
  }
  return { lines, leftNanos, savedNanos, isSpent };
}

const TRAFFIC = {
  bwd: {
    counter: "receivedBytes",
    charged: "chargedReceivedBytes",
    price: "inetDownNanosPerGb",
    mark: "untilReceivedBytes",
  },
  bwu: { counter: "sentBytes", charged: "chargedSentBytes", price: "inetUpNanosPerGb", mark: "untilSentBytes" },
} as const satisfies Record<"bwd" | "bwu", { readonly counter: Counter; readonly [name: string]: string }>;

/**
 * Charge lines for the bytes that are not charged yet, by price. Each line covers the running time in which its bytes
 * were counted.
 */
export function trafficLines(run: CountedRun, history: TermsHistory): readonly DueLine[] {
  const { instanceId, generation, meteredFromAt } = run;
  if (meteredFromAt === undefined) return [];
  const originMs = meteredFromAt.getTime();
  return (["bwd", "bwu"] as const).flatMap((component) => {
    const { counter, charged, price, mark } = TRAFFIC[component];
    let begin = run.chargedMs;
    const segments = segmentsOf(history, { generation, counter }, { from: run[charged], to: run[counter] });
    return segments.flatMap(({ from, to, terms }, index): readonly DueLine[] => {
      const changed = history.past.findLast((past) => past.generation === generation && past[mark] === to);
      const isLast = index === segments.length - 1 || changed === undefined;
      const end = isLast ? run.runningMs : within(changed.untilRunningMs, begin, run.runningMs);
      const [fromMs, toMs] = [originMs + Number(begin), originMs + Number(end)];
      begin = end;
      if (terms[price] === 0n) return [];
      const key = `${component}:${instanceId}:${generation}:${from}-${to}`;
      const stretch = { component, generation, fromMs, toMs, quantity: to - from, key };
      return [{ ...RAN, ...stretch, unitPriceNanos: terms[price], discountPpm: 0, paidFrom: "credit" }];
    });
  });
}

function within(value: bigint, low: bigint, high: bigint): bigint {
  if (value < low) return low;
  return value > high ? high : value;
}
