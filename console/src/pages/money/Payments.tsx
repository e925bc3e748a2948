import { useQuery } from "@tanstack/react-query";
import { billingPayments, type Payment } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago, Money } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import type { Column } from "../../ui/table-types.ts";

const SENTENCES: Readonly<Record<Payment["state"], string>> = {
  pending: "not paid yet, or not reported yet",
  paid: "paid",
  failed: "refused",
  expired: "not paid in time",
  mismatched: "the paid amount differs; nothing was credited",
};

const COLUMNS: readonly Column<Payment>[] = [
  { key: "when", title: "When", isName: true, cell: ({ created_at: at }) => <Ago at={at} /> },
  {
    key: "kind",
    title: "Kind",
    isOnCard: true,
    cell: ({ kind }) => (kind === "autobill" ? "automatic" : "by hand"),
  },
  {
    key: "state",
    title: "Outcome",
    isOnCard: true,
    cell: ({ state, failure }) => (
      <>
        {SENTENCES[state]}
        {failure !== null && (
          <>
            : <HostileText text={failure} />
          </>
        )}
      </>
    ),
  },
  { key: "amount", title: "Amount", isFigure: true, isOnCard: true, cell: ({ amount }) => <Money dollars={amount} /> },
];

/** Payments by card, and what became of each. */
export function Payments() {
  const payments = useQuery(ask("balance.payments", billingPayments, {}));
  return (
    <Answer query={payments} rows={3}>
      {({ payments: rows }) => (
        <DataTable
          label="Card payments"
          rows={rows}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          isSortedElsewhere
          empty={<EmptyState title="No card payments">A payment is listed here from its beginning on.</EmptyState>}
        />
      )}
    </Answer>
  );
}
