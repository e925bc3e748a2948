import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { adminOverview, type Overview, type OverviewGpus, type OverviewRefusal } from "../../../../sdk/src/index.ts";
import { askPlain } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { money } from "../../text/money.ts";
import { count, share } from "../../text/size.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead, Section } from "../../ui/PageHead.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import type { Column } from "../../ui/table-types.ts";
import { Attention } from "./Attention.tsx";
import { words } from "./links.tsx";
import { phase } from "./searches.ts";
import { SearchBox } from "./SearchBox.tsx";
import { Tiles } from "./Tiles.tsx";
import classes from "./operate.module.css";

const POLL_MS = 15_000;
export const overviewQuery = { ...askPlain("operator.overview", adminOverview), refetchInterval: POLL_MS };

/** The whole market at a glance, for administrators. */
export function Market() {
  const overview = useQuery(overviewQuery);
  return (
    <>
      <PageHead
        title="The market at a glance"
        note={
          overview.data && (
            <>
              As of <Ago at={overview.data.at} />, counted again every 15 s
            </>
          )
        }
        actions={<SearchBox />}
      />
      <Answer query={overview} rows={12}>
        {(answer) => <Glance overview={answer} />}
      </Answer>
    </>
  );
}

function Now({ overview }: { readonly overview: Overview }) {
  const { machines, rents, queue, endpoints, occupancy, money: sums } = overview;
  return (
    <Section title="Now">
      <Tiles
        tiles={[
          {
            label: "GPUs rented",
            value: occupancy === null ? "–" : share(occupancy),
            note: "of those on connected machines",
          },
          { label: "Rents in the last hour", value: rents.hour_count, note: `${rents.day_count} in 24 h` },
          {
            label: "Machines connected",
            value: `${machines.connected_count} of ${machines.total_count}`,
            note: `${machines.listed_count} listed; ${count(machines.agents_here_count, "agent")} on this server`,
          },
          {
            label: "Requests in the queue",
            value: queue.open_count,
            note:
              queue.oldest_at === null ? (
                "nobody waits"
              ) : (
                <>
                  the oldest since <Ago at={queue.oldest_at} />
                </>
              ),
          },
          {
            label: "Active endpoints",
            value: endpoints.active_count,
            note: count(endpoints.worker_count, "worker"),
          },
          { label: "Credit of everybody", value: money(sums.credit), note: `${money(sums.held)} held for what runs` },
        ]}
      />
    </Section>
  );
}

function Glance({ overview }: { readonly overview: Overview }) {
  const { rents, instances, gpus } = overview;
  return (
    <>
      <Attention overview={overview} />
      <Now overview={overview} />
      <Section title="GPUs by model">
        <DataTable
          label="GPUs by model"
          rows={gpus}
          columns={GPU_COLUMNS}
          keyOf={({ gpu_name: name }) => name}
          empty={
            <EmptyState title="No GPUs">
              Machines with GPUs appear here when a host has <Link to="/host/join">joined one</Link>.
            </EmptyState>
          }
        />
      </Section>
      <div className={classes["columns"]}>
        <Section title="Instances by state">
          <DataTable
            label="Instances by state"
            rows={Object.entries(instances)}
            columns={PHASE_COLUMNS}
            keyOf={([name]) => name}
            empty={<EmptyState title="No instances">Everything that renters keep is counted here.</EmptyState>}
          />
        </Section>
        <Section title="Refused rents">
          <p className="dim" style={{ margin: "0 0 8px" }}>
            Counted by this server since <Ago at={rents.refusals_since} />.
          </p>
          <DataTable
            label="Refused rents by reason"
            rows={rents.refusals}
            columns={REFUSAL_COLUMNS}
            keyOf={({ code }) => code}
            empty={<EmptyState title="Nothing was refused">Refusals are counted here by their reason.</EmptyState>}
          />
        </Section>
      </div>
    </>
  );
}

const GPU_COLUMNS: readonly Column<OverviewGpus>[] = [
  {
    key: "model",
    title: "Model",
    cell: ({ gpu_name: name }) => (
      <Link to="/operate/machines" search={{ q: name }}>
        <HostileText text={name === "" ? "unknown" : name} />
      </Link>
    ),
    sortBy: ({ gpu_name: name }) => name,
  },
  figure("rented", "Rented", (row) => row.rented_count, true),
  figure("free", "Free", (row) => row.free_count, true),
  figure("broken", "Broken", (row) => row.broken_count, true),
  figure("offline", "Offline", (row) => row.offline_count),
  figure("unlisted", "Not listed", (row) => row.unlisted_count),
  figure("total", "In all", (row) => row.total_count),
];

function figure(
  key: string,
  title: string,
  valueOf: (row: OverviewGpus) => number,
  isOnCard = false,
): Column<OverviewGpus> {
  return { key, title, isFigure: true, isOnCard, cell: (row) => valueOf(row), sortBy: valueOf };
}

type PhaseRow = readonly [name: string, count: number];
const PHASE_COLUMNS: readonly Column<PhaseRow>[] = [
  { key: "phase", title: "State", cell: ([name]) => <StateBadge state={name} />, sortBy: ([name]) => name },
  {
    key: "count",
    title: "Instances",
    isFigure: true,
    cell: ([name, number]) => <PhaseCount name={name} number={number} />,
    sortBy: ([, number]) => number,
  },
];

function PhaseCount({ name, number }: { readonly name: string; readonly number: number }) {
  return (
    <Link to="/operate/instances" search={{ phase: phase(name) }} aria-label={`${number} ${name}`}>
      {number}
    </Link>
  );
}

const REFUSAL_COLUMNS: readonly Column<OverviewRefusal>[] = [
  { key: "code", title: "Reason", cell: ({ code }) => words(code), sortBy: ({ code }) => code },
  {
    key: "hour",
    title: "Last hour",
    isFigure: true,
    cell: (row) => row.hour_count,
    sortBy: (row) => row.hour_count,
  },
  { key: "day", title: "24 hours", isFigure: true, cell: (row) => row.day_count, sortBy: (row) => row.day_count },
];
