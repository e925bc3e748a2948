import { Link, type LinkProps } from "@tanstack/react-router";
import type { Overview } from "../../../../sdk/src/index.ts";
import { money } from "../../text/money.ts";
import { count } from "../../text/size.ts";
import { Icon } from "../../ui/Icon.tsx";
import { Section } from "../../ui/PageHead.tsx";
import classes from "./operate.module.css";

type Item = {
  readonly key: string;
  readonly text: string;
  readonly to: NonNullable<LinkProps["to"]>;
  readonly isBroken?: boolean;
};

/** Everything that waits for an administrator, each with a link to where it is settled. */
export function Attention({ overview }: { readonly overview: Overview }) {
  const items = itemsOf(overview);
  return (
    <Section title="Waits for you">
      {items.length === 0 ? (
        <p className="dim" style={{ margin: 0 }}>
          Nothing waits for an administrator.
        </p>
      ) : (
        <ul className={classes["list"]}>
          {items.map(({ key, text, to, isBroken = false }) => (
            <li key={key} className={classes["attention"]} data-tone={isBroken ? "red" : "amber"}>
              <Icon name={isBroken ? "alert" : "clock"} />
              <Link to={to}>{text}</Link>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function itemsOf({ loops, audit, attention, payouts, gpus, money: sums }: Overview): readonly Item[] {
  const brokenCount = gpus.reduce((sum, { broken_count: broken }) => sum + broken, 0);
  const found: readonly (Item & { readonly number: number })[] = [
    {
      key: "loops",
      number: loops.late.length,
      text: `${count(loops.late.length, "background loop")} ${loops.late.length === 1 ? "is" : "are"} late: ${loops.late.join(", ")}`,
      to: "/operate/loops",
      isBroken: true,
    },
    {
      key: "alarms",
      number: audit.alarm_count,
      text: `${count(audit.alarm_count, "finding")} of the last 7 days that no rule could repair`,
      to: "/operate/reports",
      isBroken: true,
    },
    {
      key: "flags",
      number: attention.flag_count,
      text: `${count(attention.flag_count, "open flag")} of hosts`,
      to: "/operate/reports",
    },
    {
      key: "reports",
      number: attention.report_count,
      text: `${count(attention.report_count, "report")} of renters on machines in the last 7 days`,
      to: "/operate/machines",
    },
    {
      key: "payouts",
      number: payouts.waiting_count,
      text: `${count(payouts.waiting_count, "payout")} of ${money(payouts.waiting_amount)} not sent yet`,
      to: "/operate/money",
    },
    {
      key: "failed",
      number: payouts.failed_count,
      text: `${count(payouts.failed_count, "payout")} failed in the last 30 days`,
      to: "/operate/money",
      isBroken: true,
    },
    {
      key: "holds",
      number: payouts.hold_count,
      text: `${count(payouts.hold_count, "open hold")} on payouts`,
      to: "/operate/money",
    },
    {
      key: "freezes",
      number: attention.freeze_count,
      text: `${count(attention.freeze_count, "frozen account")}`,
      to: "/operate/users",
    },
    { key: "broken", number: brokenCount, text: `${count(brokenCount, "broken GPU")}`, to: "/operate/machines" },
    {
      key: "debt",
      number: sums.debt,
      text: `Accounts are ${money(sums.debt)} below zero together`,
      to: "/operate/money",
    },
  ];
  return found.filter(({ number }) => number > 0);
}
