// Charge lines as pages show them: the columns of a list, and all that the amount of one follows from.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { BillingChargesAnswer, ChargeLine } from "../../../sdk/src/index.ts";
import { bytes, gigabytes, share } from "../text/size.ts";
import { duration } from "../text/time.ts";
import { Ago, Moment, Money } from "../ui/figures.tsx";
import { HostileText } from "../ui/HostileText.tsx";
import type { Column } from "../ui/table-types.ts";
import classes from "./charge-line.module.css";

const MS = 1_000;

/** The lines among the results of `billingCharges` with `format: "lines"`. */
export function linesOf({ results }: BillingChargesAnswer): readonly ChargeLine[] {
  return results.filter((charge): charge is ChargeLine => "unit_price" in charge);
}

export const LINE_COLUMNS: readonly Column<ChargeLine>[] = [
  {
    key: "for",
    title: "For",
    isName: true,
    sortBy: ({ type }) => type,
    cell: (line) => <HostileText text={wordOf(line)} />,
  },
  { key: "of", title: "Of", isOnCard: true, sortBy: ({ source }) => source, cell: (line) => <Subject line={line} /> },
  { key: "why", title: "Counted", cell: (line) => counted(line) },
  {
    key: "at",
    title: "Charged",
    isOnCard: true,
    sortBy: ({ charged_at: at }) => at,
    cell: ({ charged_at: at }) => <Ago at={at} />,
  },
  {
    key: "amount",
    title: "Amount",
    isFigure: true,
    isOnCard: true,
    sortBy: ({ amount }) => amount,
    cell: ({ amount }) => <Money dollars={amount} />,
  },
];

/** Each line of one instance has the same subject, which is left out. */
export const INSTANCE_LINE_COLUMNS = LINE_COLUMNS.filter(({ key }) => key !== "of");

const WORDS: Readonly<Record<string, string>> = {
  gpu: "Running time",
  disk: "Storage",
  bwu: "Traffic sent",
  bwd: "Traffic received",
};

function wordOf({ type }: ChargeLine): string {
  return WORDS[type] ?? type;
}

function Subject({ line: { instance_id: instance, volume_id: volume } }: { readonly line: ChargeLine }) {
  if (instance === null) return volume === null ? <>–</> : <Link to="/volumes">Volume {volume}</Link>;
  return (
    <Link to="/instances/$id/charges" params={{ id: String(instance) }}>
      Instance {instance}
    </Link>
  );
}

/** `52 m × $0.40/h`: what was counted, and the price of one. */
function counted({ type, quantity, unit_price: price, size_gb: gb }: ChargeLine): string {
  if (type === "gpu") return `${duration(quantity / MS)} × $${price}/h`;
  if (type !== "disk") return `${bytes(quantity)} × $${price}/GB`;
  return `${duration(quantity / MS)} × ${gigabytes(gb ?? 0)} × $${price}/GB/month`;
}

/** All that the amount of a line follows from, so that anybody can check it. */
export function LineWhy({ line }: { readonly line: ChargeLine }) {
  const { start, end, state, cause, discount, unpaid, paid_from: paidFrom, generation, machine_id: machine } = line;
  const facts: readonly (readonly [string, ReactNode])[] = [
    ["Amount", `$${line.amount_exact}`],
    ["For", wordOf(line)],
    ["Of", <Subject key="of" line={line} />],
    ["Counted", `${counted(line)}${discount > 0 ? `, less ${share(discount)} discount` : ""}`],
    ["Counter", `${line.quantity.toLocaleString("en-US")} ${line.type.startsWith("bw") ? "bytes" : "ms"}`],
    ["From", <Moment key="from" at={start} />],
    ["To", <Moment key="to" at={end} />],
    ["State", <HostileText key="state" text={state} />],
    ["Since", <HostileText key="cause" text={cause.replaceAll("_", " ")} />],
    ["Machine", machine ?? "–"],
    ["Run", generation ?? "–"],
    ["Paid from", paidFrom === "deposit" ? "the deposit of the instance" : "credit"],
    ["Not paid", Number(unpaid) > 0 ? `$${unpaid}, which is never charged later` : "nothing"],
    ["Charged", <Moment key="charged" at={line.charged_at} />],
  ];
  return (
    <>
      <dl className={classes["facts"]}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p className={classes["note"]}>{ruleOf(line)}</p>
    </>
  );
}

function ruleOf({ type }: ChargeLine): string {
  if (type === "gpu") return "Milliseconds × price of an hour × (1 − discount) ÷ 3,600,000, rounded down.";
  if (type === "disk") return "Milliseconds × size × price of a GB and month ÷ 30 days, rounded down.";
  return "Bytes × price of a GB ÷ 1,000,000,000, rounded down.";
}
