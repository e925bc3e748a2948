import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { billingListInvoices, type MoneyMovement } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { Failure } from "../../parts/Failure.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago, Money } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import type { Column } from "../../ui/table-types.ts";
import { useNow } from "../../ui/use-now.ts";

const YEARS_S = 10 * 366 * 86_400;
const DAY_S = 86_400;
const PAGE = 50;

const TYPES: Readonly<Record<MoneyMovement["type"], string>> = {
  credit: "Credit",
  transfer: "Transfer",
  payout: "Payout",
  refund: "Refund",
  reserved: "Prepaid",
};

const COLUMNS: readonly Column<MoneyMovement>[] = [
  {
    key: "what",
    title: "What",
    isName: true,
    cell: ({ description }) => <HostileText text={description} />,
  },
  { key: "type", title: "Kind", isOnCard: true, cell: ({ type }) => TYPES[type] },
  { key: "when", title: "When", isOnCard: true, cell: ({ start }) => <Ago at={start} /> },
  {
    key: "amount",
    title: "Amount",
    isFigure: true,
    isOnCard: true,
    cell: ({ amount, metadata: { direction } }) => (
      <Money dollars={direction === "in" ? Math.abs(amount) : -Math.abs(amount)} />
    ),
  },
];

/** Money that came to the account and left it, except charges: payments, grants, refunds, transfers, prepayments. */
export function Movements() {
  const [after, setAfter] = useState<string>();
  const today = Math.ceil(useNow() / DAY_S) * DAY_S;
  const query = {
    select_filters: JSON.stringify({ when: { gte: today - YEARS_S, lte: today } }),
    limit: PAGE,
    ...(after === undefined ? {} : { after_token: after }),
  };
  const movements = useQuery(ask("balance.movements", billingListInvoices, { query }));
  const next = movements.data?.next_token ?? undefined;
  return (
    <>
      {movements.error !== null && <Failure error={movements.error} onRetry={() => void movements.refetch()} />}
      {(movements.data !== undefined || movements.error === null) && (
        <DataTable
          label="Movements of money"
          rows={movements.data?.results}
          columns={COLUMNS}
          keyOf={({ metadata: { invoice_id: id, service, direction } }) => `${id} ${service} ${direction}`}
          isSortedElsewhere
          empty={
            <EmptyState title="No money has moved yet">
              Payments, credit that somebody gives you, transfers, refunds and payouts are listed here.
            </EmptyState>
          }
        />
      )}
      {next !== undefined && (
        <Button variant="default" mt="md" onClick={() => setAfter(next)}>
          Older
        </Button>
      )}
    </>
  );
}
