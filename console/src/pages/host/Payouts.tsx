import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import {
  billingPayoutMethod,
  billingPayouts,
  type Earnings,
  type Payout,
  type PayoutHold,
} from "../../../../sdk/src/index.ts";
import { ask, askPlain } from "../../api/query.ts";
import { PayoutMethodForm } from "../../forms/host/payout-method.tsx";
import { Answer } from "../../parts/Answer.tsx";
import type { StateWord } from "../../text/states.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago, Moment, Money } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead, Section } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import type { Column } from "../../ui/table-types.ts";
import classes from "./host.module.css";

const PAYOUTS_MAX = 100;
const STATES: Readonly<Record<Payout["state"], StateWord>> = {
  pending: { word: "waiting", tone: "violet", icon: "clock" },
  sending: { word: "sending", tone: "blue", icon: "bar" },
  paid: { word: "paid", tone: "green", icon: "check" },
  failed: { word: "failed", tone: "red", icon: "alert" },
};

const COLUMNS: readonly Column<Payout>[] = [
  {
    key: "state",
    title: "State",
    isOnCard: true,
    cell: ({ state, failure }) => <StateBadge state={STATES[state]} sentence={failure ?? undefined} />,
  },
  {
    key: "id",
    title: "Payout",
    isName: true,
    sortBy: ({ id }) => id,
    cell: ({ id }) => <span className="mono">{id}</span>,
  },
  { key: "made", title: "Made", sortBy: ({ invoiced_at: at }) => at, cell: ({ invoiced_at: at }) => <Ago at={at} /> },
  {
    key: "due",
    title: "Due",
    isOnCard: true,
    sortBy: ({ due_at: at }) => at,
    cell: ({ due_at: at }) => <Moment at={at} />,
  },
  {
    key: "earned",
    title: "Earned",
    isFigure: true,
    sortBy: ({ earned }) => earned,
    cell: ({ earned }) => <Money dollars={earned} />,
  },
  {
    key: "fee",
    title: "Fee",
    isFigure: true,
    cell: ({ fee, fee_percent: percent }) => (
      <>
        <Money dollars={fee} /> ({percent} %)
      </>
    ),
  },
  {
    key: "amount",
    title: "Paid out",
    isFigure: true,
    isOnCard: true,
    sortBy: ({ amount }) => amount,
    cell: ({ amount }) => <Money dollars={amount} />,
  },
  {
    key: "method",
    title: "Way",
    cell: ({ method, reference }) => (
      <HostileText text={[method, reference].filter((word) => word !== null).join(" ") || "–"} />
    ),
  },
];

/** Money that the host has to get, the way it goes, and the payouts so far. */
export function Payouts() {
  const payouts = useQuery(ask("balance.payouts", billingPayouts, { query: { limit: PAYOUTS_MAX } }));
  return (
    <>
      <PageHead title="Payouts" note="What you earned is paid out to you, less the operator's fee." />
      <Answer query={payouts} rows={8}>
        {({ earnings, holds, fee_percent: fee, payouts: rows }) => (
          <>
            <Sums earnings={earnings} fee={fee} />
            <Holds holds={holds} />
            <Method />
            <Section title="Payouts">
              <DataTable
                label="Payouts"
                rows={rows}
                columns={COLUMNS}
                keyOf={({ id }) => id}
                startSort={{ key: "id", isDescending: true }}
                empty={
                  <EmptyState title="No payouts yet">
                    What you earned is invoiced each Friday, from $20 on, and paid a week later by the way that you have
                    chosen.
                  </EmptyState>
                }
              />
            </Section>
          </>
        )}
      </Answer>
    </>
  );
}

function Sums({ earnings, fee }: { readonly earnings: Earnings; readonly fee: number }) {
  const { payable, young, held, debt, card_hold_days: days } = earnings;
  const sums = [
    { title: "Can be paid out", dollars: payable },
    { title: `Waits, paid by cards less than ${days} d ago`, dollars: young },
    { title: "Held", dollars: held },
    { title: "Owed by you", dollars: debt },
  ];
  return (
    <dl className={classes["sums"]}>
      {sums.map(({ title, dollars }) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>
            <Money dollars={dollars} />
          </dd>
        </div>
      ))}
      <div>
        <dt>Fee of the operator</dt>
        <dd>{fee} %</dd>
      </div>
    </dl>
  );
}

function Holds({ holds }: { readonly holds: readonly PayoutHold[] }) {
  if (holds.length === 0) return null;
  return (
    <Section title="Why payouts are held">
      <ul className={classes["checks"]}>
        {holds.map(({ id, reason, placed_at: at }) => (
          <li key={id}>
            <Ago at={at} />
            <p>
              <HostileText text={reason} />
            </p>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Method() {
  const method = useQuery(askPlain("balance.payout-method", billingPayoutMethod));
  const [isOpen, setOpen] = useState(false);
  return (
    <Section
      title="Way of payout"
      actions={<Button onClick={() => setOpen(true)}>{method.data?.method ? "Change it" : "Choose a way"}</Button>}
    >
      <Answer query={method} rows={2}>
        {({ method: name, shown, updated_at: at }) =>
          name === null ? (
            <EmptyState title="No way is chosen">
              Until you choose one, what you earned stays with the operator.
            </EmptyState>
          ) : (
            <p>
              <HostileText text={shown === null ? name : `${name}: ${shown}`} />
              {at !== null && (
                <span className="dim">
                  {" "}
                  chosen <Ago at={at} />
                </span>
              )}
            </p>
          )
        }
      </Answer>
      <Panel title="Way of payout" isOpen={isOpen} onClose={() => setOpen(false)}>
        <PayoutMethodForm onDone={() => setOpen(false)} />
      </Panel>
    </Section>
  );
}
