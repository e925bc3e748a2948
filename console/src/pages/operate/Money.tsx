import { useQuery } from "@tanstack/react-query";
import {
  adminDisputes,
  adminOverview,
  adminPayoutHolds,
  adminPayouts,
  type AdminPayout,
  type AdminPayoutHold,
  type DisputedAccount,
  type OverviewMoney,
  type OverviewMovement,
} from "../../../../sdk/src/index.ts";
import { ask, askPlain } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { money } from "../../text/money.ts";
import { count } from "../../text/size.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead, Section } from "../../ui/PageHead.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import type { Column } from "../../ui/table-types.ts";
import { AccountLink, words } from "./links.tsx";
import { ReleaseHold } from "./ReleaseHold.tsx";
import { SettlePayout } from "./SettlePayout.tsx";
import { Tiles } from "./Tiles.tsx";
import classes from "./operate.module.css";

const PAYOUTS_MAX = 100;

/** Money of the house: what it owes, what came in and went out, payouts, holds and disputes. */
export function Money() {
  const overview = useQuery(askPlain("operator.overview", adminOverview));
  const payouts = useQuery(ask("operator.payouts", adminPayouts, { query: { limit: PAYOUTS_MAX } }));
  const holds = useQuery(askPlain("operator.holds", adminPayoutHolds));
  const disputes = useQuery(ask("operator.disputes", adminDisputes, { query: { all: "true" } }));
  return (
    <>
      <PageHead title="Money of the house" note="From the ledger; corrections and credit are booked on an account" />
      <Answer query={overview} rows={4}>
        {(answer) => <Sums sums={answer.money} />}
      </Answer>
      <Section title="Payouts to hosts">
        <Answer query={payouts}>
          {(answer) => (
            <DataTable
              label="Payouts to hosts"
              rows={answer.payouts}
              columns={PAYOUT_COLUMNS}
              keyOf={({ id }) => id}
              isSortedElsewhere
              empty={
                <EmptyState title="No payouts">
                  Earnings of hosts become payouts when they are due and the host has said where to send them.
                </EmptyState>
              }
            />
          )}
        </Answer>
      </Section>
      <Section title="Held payouts">
        <Answer query={holds}>{(answer) => <Holds holds={answer.holds} />}</Answer>
      </Section>
      <Section title="Disputed card payments">
        <Answer query={disputes}>
          {(answer) => (
            <DataTable
              label="Accounts with disputes"
              rows={answer.accounts}
              columns={DISPUTE_COLUMNS}
              keyOf={(row) => row.user_id}
              empty={
                <EmptyState title="Nobody disputes a payment">
                  When a bank takes a card payment back, its account is shown here and its payouts are held.
                </EmptyState>
              }
            />
          )}
        </Answer>
      </Section>
    </>
  );
}

function Sums({ sums }: { readonly sums: OverviewMoney }) {
  return (
    <>
      <Tiles
        tiles={[
          { label: "Credit of everybody", value: money(sums.credit), note: `${money(sums.held)} held for what runs` },
          { label: "Prepaid", value: money(sums.deposits), note: "for instances" },
          { label: "Owed to hosts", value: money(sums.earnings), note: "earned and in no payout yet" },
          { label: "Fees kept", value: money(sums.fees) },
          {
            label: "Owed to the house",
            value: money(sums.debt),
            note: "accounts below zero",
            tone: sums.debt > 0 ? "amber" : undefined,
          },
        ]}
      />
      <Section title="In and out">
        <DataTable
          label="Movements of money"
          rows={sums.movements}
          columns={MOVEMENT_COLUMNS}
          keyOf={({ code }) => code}
          empty={
            <EmptyState title="No money has moved">Payments, grants, payouts and refunds are added up here.</EmptyState>
          }
        />
      </Section>
    </>
  );
}

const MOVEMENT_COLUMNS: readonly Column<OverviewMovement>[] = [
  { key: "code", title: "Kind", cell: ({ code }) => words(code), sortBy: ({ code }) => code },
  {
    key: "day",
    title: "Last 24 h",
    isFigure: true,
    cell: (row) => money(row.day_amount),
    sortBy: (row) => row.day_amount,
  },
  {
    key: "month",
    title: "Last 30 days",
    isFigure: true,
    cell: (row) => money(row.month_amount),
    sortBy: (row) => row.month_amount,
  },
];

const PAYOUT_TONES = {
  pending: { word: "waiting", tone: "amber", icon: "clock" },
  sending: { word: "sending", tone: "blue", icon: "bar" },
  paid: { word: "paid", tone: "green", icon: "check" },
  failed: { word: "failed", tone: "red", icon: "alert" },
} as const;

const PAYOUT_COLUMNS: readonly Column<AdminPayout>[] = [
  { key: "id", title: "Payout", isName: true, cell: ({ id }) => id },
  {
    key: "state",
    title: "State",
    isOnCard: true,
    cell: ({ state, failure }) => <StateBadge state={PAYOUT_TONES[state]} sentence={failure ?? undefined} />,
  },
  {
    key: "host",
    title: "Host",
    isOnCard: true,
    cell: (row) => <AccountLink id={row.user_id} name={row.email ?? ""} />,
  },
  { key: "amount", title: "Amount", isFigure: true, isOnCard: true, cell: ({ amount }) => money(amount) },
  { key: "fee", title: "Fee", isFigure: true, cell: ({ fee }) => money(fee) },
  { key: "method", title: "By", cell: ({ method }) => method ?? <span className="dim">not chosen</span> },
  { key: "due", title: "Due", cell: (row) => <Ago at={row.due_at} /> },
  {
    key: "reference",
    title: "Reference",
    cell: ({ reference }) => (reference === null ? <span className="dim">–</span> : <HostileText text={reference} />),
  },
  { key: "acts", title: "", cell: (row) => <SettlePayout payout={row} /> },
];

function Holds({ holds }: { readonly holds: readonly AdminPayoutHold[] }) {
  if (holds.length === 0) {
    return (
      <EmptyState title="No payout is held">
        Flags, freezes and disputes hold payouts, and so do administrators on the page of a user.
      </EmptyState>
    );
  }
  return (
    <ul className={classes["list"]}>
      {holds.map((hold) => (
        <li key={hold.id} className={classes["entry"]}>
          <div>
            <p className={classes["entryTitle"]}>
              Hold {hold.id}: {words(hold.kind)} <AccountLink id={hold.user_id} />
            </p>
            <p className={classes["entryText"]}>
              <HostileText text={hold.reason} /> · <Ago at={hold.placed_at} />
            </p>
          </div>
          <ReleaseHold id={hold.id} />
        </li>
      ))}
    </ul>
  );
}

const DISPUTE_COLUMNS: readonly Column<DisputedAccount>[] = [
  { key: "account", title: "Account", isName: true, cell: (row) => <AccountLink id={row.user_id} /> },
  { key: "open", title: "Open", isFigure: true, isOnCard: true, cell: (row) => row.open_count },
  { key: "lost", title: "Lost", isFigure: true, cell: (row) => row.lost_count },
  { key: "won", title: "Won", isFigure: true, cell: (row) => row.won_count },
  { key: "disputed", title: "Disputed", isFigure: true, isOnCard: true, cell: ({ disputed }) => money(disputed) },
  { key: "owed", title: "Below zero by", isFigure: true, isOnCard: true, cell: ({ owed }) => money(owed) },
  { key: "payments", title: "Payments", cell: ({ disputes }) => count(disputes.length, "dispute") },
  {
    key: "acts",
    title: "",
    cell: ({ payout_hold_id: id }) => (id === null ? null : <ReleaseHold id={id} />),
  },
];
