import { useQuery } from "@tanstack/react-query";
import { Button } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { billingListAllDocuments, type DocumentHead } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { Failure } from "../../parts/Failure.tsx";
import { utcDay } from "../../text/time.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Moment, Money } from "../../ui/figures.tsx";
import { PageHead, Section } from "../../ui/PageHead.tsx";
import type { Column } from "../../ui/table-types.ts";
import { DocumentPanel } from "./DocumentPanel.tsx";
import { Movements } from "./Movements.tsx";

const route = getRouteApi("/frame/money/invoices");
const PAGE = 50;

/** Documents of every kind with their page and PDF, and the movements of money that are no charges. */
export function Invoices() {
  const { document: open, after } = route.useSearch();
  const navigate = route.useNavigate();
  const query = { limit: PAGE, ...(after === undefined ? {} : { after_token: after }) };
  const documents = useQuery(ask("balance.documents", billingListAllDocuments, { query }));
  const show = (number: string | undefined) => void navigate({ search: (before) => ({ ...before, document: number }) });
  const next = documents.data?.next_token ?? undefined;
  return (
    <>
      <PageHead title="Invoices" note="One invoice for each month, on the second day of the next; receipts at once." />
      {documents.error !== null && <Failure error={documents.error} onRetry={() => void documents.refetch()} />}
      {(documents.data !== undefined || documents.error === null) && (
        <DataTable
          label="Documents"
          rows={documents.data?.results}
          columns={COLUMNS}
          keyOf={({ number }) => number}
          isSortedElsewhere
          onOpen={({ number }) => show(number)}
          openKey={open}
          empty={
            <EmptyState title="No documents yet">
              The invoice of this month comes on the second day of the next one. A card payment brings its receipt
              within a minute.
            </EmptyState>
          }
        />
      )}
      {next !== undefined && (
        <Button
          variant="default"
          mt="md"
          onClick={() => void navigate({ search: (before) => ({ ...before, after: next }) })}
        >
          Older
        </Button>
      )}
      <Section title="Movements of money">
        <Movements />
      </Section>
      <DocumentPanel number={open} onClose={() => show(undefined)} />
    </>
  );
}

const KINDS: Readonly<Record<string, string>> = {
  invoice: "Invoice",
  receipt: "Receipt",
  credit_note: "Credit note",
  statement: "Payout statement",
};

const COLUMNS: readonly Column<DocumentHead>[] = [
  {
    key: "number",
    title: "Number",
    isName: true,
    cell: ({ number }) => (
      <Link to="/money/invoices" search={(before) => ({ ...before, document: number })} className="mono">
        {number}
      </Link>
    ),
  },
  { key: "kind", title: "Kind", isOnCard: true, cell: ({ kind }) => KINDS[kind] ?? kind },
  {
    key: "issued",
    title: "Issued",
    isOnCard: true,
    cell: ({ issued_at: at }) => <Moment at={at} />,
  },
  {
    key: "period",
    title: "Period",
    cell: ({ period_start: from, period_end: to }) =>
      from === null || to === null ? "–" : `${utcDay(from)} to ${utcDay(to - 1)}`,
  },
  {
    key: "total",
    title: "Total",
    isFigure: true,
    isOnCard: true,
    cell: ({ total }) => <Money dollars={total} />,
  },
  { key: "files", title: "Open", cell: ({ number }) => <Files number={number} /> },
];

function Files({ number }: { readonly number: string }) {
  const path = `/api/v0/billing/documents/${encodeURIComponent(number)}`;
  return (
    <>
      <a href={`${path}/page/`} target="_blank" rel="noreferrer" aria-label={`Page of ${number}`}>
        page
      </a>
      {" · "}
      <a href={`${path}/pdf/`} target="_blank" rel="noreferrer" aria-label={`PDF of ${number}`}>
        PDF
      </a>
    </>
  );
}
