import { mulDivFloor, nanos, SECONDS_PER_HOUR, SECONDS_PER_MONTH, type Nanos } from "../../../base/money.ts";
import { segmentsOf, type Counter, type TermsHistory } from "../../rental/instances/index.ts";
import { depositShare } from "./rules/charges.ts";
import { daysOf } from "./rules/days.ts";

const MS_PER_SECOND = 1000n;
const MS_PER_HOUR = SECONDS_PER_HOUR * MS_PER_SECOND;
const MS_PER_MONTH = SECONDS_PER_MONTH * MS_PER_SECOND;
const BYTES_PER_GB = 1_000_000_000n;
const PPM = 1_000_000n;

/** `bwu` is what was sent, `bwd` what was received. */
export type Component = "gpu" | "disk" | "bwu" | "bwd";
export type LineState = "running" | "loading" | "stopped" | "stored";

/** What a line costs follows from these alone (migration 0220). */
export type PricedQuantity = {
  readonly component: Component;
  /** Milliseconds for gpu and disk, bytes for bwu and bwd. */
  readonly quantity: bigint;
  readonly sizeBytes: bigint | undefined;
  readonly unitPriceNanos: bigint;
  readonly discountPpm: number;
};

/** What one stretch of one component costs at one price, before it is known what there is to pay it from. */
export type DueLine = PricedQuantity & {
  readonly generation: number | undefined;
  readonly state: LineState;
  readonly cause: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly paidFrom: "credit" | "deposit";
  /** Names exactly this stretch: whoever makes it again makes the same one. */
  readonly key: string;
};

/** What a line costs: its price by its quantity, rounded towards the customer, once. */
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

/** The end of a key: from where to where its stretch goes, in what its line counts. */
const STRETCH = /:(\d+)-(\d+)$/;

/**
 * The parts of a line between these moments, which are in order. Only a line of time that credit pays can be cut: bytes
 * have no moments, and a deposit is bounded by no cap.
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

/** What one generation counted, and how much of it is charged. */
export type CountedRun = {
  readonly instanceId: number;
  readonly generation: number;
  /** When its process began, from where it counts; undefined while nobody has proven that it runs. */
  readonly meteredFromAt: Date | undefined;
  readonly runningMs: bigint;
  readonly receivedBytes: bigint;
  readonly sentBytes: bigint;
  readonly chargedMs: bigint;
  readonly chargedReceivedBytes: bigint;
  readonly chargedSentBytes: bigint;
};

/** What was prepaid for an instance. A closed one gave back what was left: what is charged after that, credit pays. */
export type Prepaid = { readonly leftNanos: bigint; readonly isClosed: boolean };

/** Lines of the running time of one run, and what they leave of the deposit. */
export type RunLines = {
  readonly lines: readonly DueLine[];
  readonly leftNanos: bigint;
  /** What the discount took off the price of what the deposit paid. */
  readonly savedNanos: bigint;
  readonly isSpent: boolean;
};

const RAN = { state: "running", cause: "container_running", sizeBytes: undefined } as const;

/**
 * The running time that is not charged yet, by price and by day (UTC). A deposit pays first, at its discount; once it
 * does not pay another millisecond, credit pays the full price. What costs nothing makes no line: only the counters say
 * that it ran.
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
      // What rounding left of a spent deposit may be a millisecond's price; spent it is all the same.
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

/** The bytes that are not charged yet, by price. Each line bears the running time in which they were counted. */
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
