import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Suspense } from "react";
import { lazyPart } from "../../code.ts";
import { earningsPage, earningsSummary, type EarningsRow } from "../../../../sdk/src/index.ts";
import { ask, askPlain } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { share } from "../../text/size.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Money } from "../../ui/figures.tsx";
import { PageHead, Section } from "../../ui/PageHead.tsx";
import type { Column } from "../../ui/table-types.ts";
import { useNow } from "../../ui/use-now.ts";
import { Waiting } from "../../ui/Waiting.tsx";
import classes from "./host.module.css";
import { DAY_S } from "./machine.ts";

const route = getRouteApi("/frame/host/earnings");
const ByDay = lazyPart(() => import("./EarningsByDay.tsx"), "EarningsByDay");
const SPANS = [
  { value: "7", label: "7 d" },
  { value: "30", label: "30 d" },
  { value: "365", label: "1 y" },
];
const MACHINES_MAX = 200;

const COLUMNS: readonly Column<EarningsRow>[] = [
  {
    key: "machine",
    title: "Machine",
    isName: true,
    sortBy: ({ machine_id: id }) => id ?? null,
    cell: ({ machine_id: id }) => <Machine id={id} />,
  },
  {
    key: "gpu",
    title: "GPUs",
    isFigure: true,
    isOnCard: true,
    sortBy: (row) => row.gpu_earn,
    cell: (row) => <Money dollars={row.gpu_earn} />,
  },
  {
    key: "storage",
    title: "Storage",
    isFigure: true,
    sortBy: (row) => row.sto_earn,
    cell: (row) => <Money dollars={row.sto_earn} />,
  },
  {
    key: "traffic",
    title: "Traffic",
    isFigure: true,
    sortBy: (row) => row.bwu_earn + row.bwd_earn,
    cell: (row) => <Money dollars={row.bwu_earn + row.bwd_earn} />,
  },
  {
    key: "all",
    title: "All",
    isFigure: true,
    isOnCard: true,
    sortBy: (row) => row.total_earn,
    cell: (row) => <Money dollars={row.total_earn} />,
  },
];

/** Earnings of this host by day and by machine. */
export function Earnings() {
  const { days = 30 } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <PageHead title="Earnings" note="What renters paid for your machines. Days are UTC." />
      <Sums />
      <Section
        title="By day"
        actions={
          <SegmentedControl
            size="xs"
            aria-label="Time"
            data={SPANS}
            value={String(days)}
            onChange={(value) => void navigate({ search: { days: Number(value) } })}
          />
        }
      >
        <Suspense fallback={<Waiting rows={5} />}>
          <ByDay days={days} />
        </Suspense>
      </Section>
      <ByMachine days={days} />
    </>
  );
}

function Sums() {
  const summary = useQuery(askPlain("balance.earnings-summary", earningsSummary));
  return (
    <Answer query={summary} rows={2}>
      {({ summary: sums }) => (
        <dl className={classes["sums"]}>
          <Sum title="All earnings" dollars={sums.total_earn} />
          <Sum title="GPUs" dollars={sums.gpu_earn} />
          <Sum title="Storage" dollars={sums.sto_earn} />
          <Sum title="Traffic" dollars={sums.bwu_earn + sums.bwd_earn} />
          {sums.referral_earn > 0 && <Sum title="People you brought" dollars={sums.referral_earn} />}
          {sums.reliability !== null && (
            <div>
              <dt>Reliability now</dt>
              <dd>{share(sums.reliability)}</dd>
            </div>
          )}
        </dl>
      )}
    </Answer>
  );
}

function Sum({ title, dollars }: { readonly title: string; readonly dollars: number }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        <Money dollars={dollars} />
      </dd>
    </div>
  );
}

function ByMachine({ days }: { readonly days: number }) {
  const today = Math.floor(useNow() / DAY_S);
  const filters = JSON.stringify({ day: { gte: today - days + 1, lte: today } });
  const query = { group_by: "machine", select_filters: filters, limit: MACHINES_MAX };
  const page = useQuery(ask("balance.earnings-machines", earningsPage, { query }));
  return (
    <Section title="By machine">
      {page.error !== null && <Failure error={page.error} onRetry={() => void page.refetch()} />}
      {(page.data !== undefined || page.error === null) && (
        <DataTable
          label="Earnings by machine"
          rows={page.data?.rows}
          columns={COLUMNS}
          keyOf={({ machine_id: id }) => id ?? "none"}
          startSort={{ key: "all", isDescending: true }}
          empty={
            <EmptyState title="No earnings in this time">
              Each hour that somebody rents one of your <Link to="/host/machines">machines</Link> is counted here.
            </EmptyState>
          }
        />
      )}
    </Section>
  );
}

function Machine({ id }: { readonly id: number | null | undefined }) {
  if (id === null || id === undefined) return <span>no machine</span>;
  return (
    <Link to="/host/machines/$id" params={{ id: String(id) }}>
      <span className="mono">{id}</span>
    </Link>
  );
}
