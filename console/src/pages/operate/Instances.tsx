import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { adminInstances, type FoundInstance } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { hourly } from "../../text/money.ts";
import { gigabytes } from "../../text/size.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import type { Column } from "../../ui/table-types.ts";
import { Choice, Filters, Pager } from "./Filters.tsx";
import { AccountLink, MachineLink, words } from "./links.tsx";
import classes from "./operate.module.css";

const route = getRouteApi("/frame/operate/instances");
const ROWS = 50;
type Search = ReturnType<typeof route.useSearch>;

/** Instances of all renters, without what is in them. */
export function Instances() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const instances = useQuery(ask("operator.instances", adminInstances, { query: queryOf(search) }));
  const change = (changed: Search) =>
    void navigate({ search: (before) => ({ ...before, after: undefined, ...changed }), replace: true });
  return (
    <>
      <PageHead title="Instances of all renters" note={<Narrowed search={search} />} />
      <InstanceFilters search={search} onChange={change} />
      <Answer query={instances} rows={10}>
        {(answer) => (
          <>
            <DataTable
              label="Instances"
              rows={answer.instances}
              columns={COLUMNS}
              keyOf={({ id }) => id}
              isSortedElsewhere
              empty={
                <EmptyState title="No instance matches">
                  Instances appear here when somebody rents one. Take a filter away to see others.
                </EmptyState>
              }
            />
            <Pager
              after={search.after}
              nextToken={answer.next_token}
              onPage={(token) => void navigate({ search: (before) => ({ ...before, after: token }) })}
            />
          </>
        )}
      </Answer>
    </>
  );
}

function queryOf({ q, renter, machine, phase, bid, over, after }: Search) {
  return {
    limit: ROWS,
    ...(q !== undefined && { q }),
    ...(renter !== undefined && { renter_id: renter }),
    ...(machine !== undefined && { machine_id: machine }),
    ...(phase && { phase }),
    ...(bid && { bid }),
    ...(over && { over }),
    ...(after !== undefined && { after_token: after }),
  };
}

function Narrowed({ search: { renter, machine } }: { readonly search: Search }) {
  if (renter === undefined && machine === undefined) return <>The newest first</>;
  return (
    <>
      {renter !== undefined && (
        <>
          Of <AccountLink id={renter} />{" "}
        </>
      )}
      {machine !== undefined && (
        <>
          on <MachineLink id={machine} />{" "}
        </>
      )}
      ·{" "}
      <Link to="/operate/instances" search={{}}>
        show all
      </Link>
    </>
  );
}

type FilterProps = { readonly search: Search; readonly onChange: (changed: Search) => void };

function InstanceFilters({ search, onChange }: FilterProps) {
  return (
    <Filters label="Find instances" placeholder="Id or label" q={search.q} onText={(q) => onChange({ q })}>
      <Choice label="State" words={PHASES} value={search.phase} onChange={(phase) => onChange({ phase })} />
      <Choice label="Kind" words={KINDS} value={search.bid} onChange={(bid) => onChange({ bid })} />
      <Choice label="Ended" words={ENDED} value={search.over} onChange={(over) => onChange({ over })} />
    </Filters>
  );
}

const PHASES = [
  ["scheduled", "Waiting"],
  ["starting", "Starting"],
  ["running", "Running"],
  ["yielding", "Yielding"],
  ["stopping", "Stopping"],
  ["stopped", "Stopped"],
  ["ending", "Ending"],
  ["ended", "Ended"],
] as const;
const KINDS = [
  ["true", "Interruptible"],
  ["false", "On demand"],
] as const;
const ENDED = [
  ["false", "Not ended"],
  ["true", "Ended"],
] as const;

const COLUMNS: readonly Column<FoundInstance>[] = [
  {
    key: "id",
    title: "Instance",
    isName: true,
    cell: ({ id, label }) => (
      <span className={classes["name"]}>
        {id} {label !== null && label !== "" && <HostileText text={label} />}
      </span>
    ),
  },
  {
    key: "phase",
    title: "State",
    isOnCard: true,
    cell: (row) => <StateBadge state={row.phase} sentence={sentenceOf(row)} />,
  },
  { key: "renter", title: "Renter", isOnCard: true, cell: (row) => <AccountLink id={row.user_id} name={row.email} /> },
  { key: "machine", title: "Machine", cell: (row) => <MachineLink id={row.machine_id} /> },
  { key: "gpus", title: "Devices", isFigure: true, cell: (row) => row.device_count },
  { key: "disk", title: "Disk", isFigure: true, cell: (row) => gigabytes(row.disk_gb) },
  { key: "price", title: "Price", isFigure: true, isOnCard: true, cell: (row) => hourly(row.dph_total) },
  { key: "kind", title: "Kind", cell: (row) => (row.is_bid ? "interruptible" : "on demand") },
  {
    key: "image",
    title: "Image",
    cell: ({ image }) => (
      <span className={classes["name"]}>
        <HostileText text={image} />
      </span>
    ),
  },
  { key: "since", title: "In this state", cell: (row) => <Ago at={row.phase_since} /> },
];

function sentenceOf({ phase_cause: cause, status_msg: status, problem }: FoundInstance): string | undefined {
  const parts = [words(cause), status, problem].filter((part) => part !== "");
  return parts.length === 0 ? undefined : parts.join(" · ");
}
