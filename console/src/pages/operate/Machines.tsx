import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { adminMachines, type FoundMachine } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { hourly } from "../../text/money.ts";
import { share } from "../../text/size.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import type { Column } from "../../ui/table-types.ts";
import { Choice, Filters, Pager } from "./Filters.tsx";
import { AccountLink } from "./links.tsx";
import { MachinePanel } from "./MachinePanel.tsx";
import { YES_NO } from "./Users.tsx";

const route = getRouteApi("/frame/operate/machines");
const ROWS = 50;
type Search = ReturnType<typeof route.useSearch>;

/** Machines of all hosts, found by name, host, model or state. */
export function Machines() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const machines = useQuery(ask("operator.machines", adminMachines, { query: queryOf(search) }));
  const change = (changed: Search) =>
    void navigate({
      search: (before) => ({ ...before, after: undefined, open: undefined, ...changed }),
      replace: true,
    });
  const open = (id: number | undefined) => void navigate({ search: (before) => ({ ...before, open: id }) });
  return (
    <>
      <PageHead title="Machines of all hosts" note={<HostNote search={search} />} />
      <MachineFilters search={search} onChange={change} />
      <Answer query={machines} rows={10}>
        {(answer) => (
          <>
            <DataTable
              label="Machines"
              rows={answer.machines}
              columns={COLUMNS}
              keyOf={({ id }) => id}
              isSortedElsewhere
              onOpen={({ id }) => open(id)}
              openKey={search.open}
              empty={
                <EmptyState title="No machine matches">
                  Machines appear here when a host has joined one. Take a filter away to see others.
                </EmptyState>
              }
            />
            <Pager
              after={search.after}
              nextToken={answer.next_token}
              onPage={(token) => void navigate({ search: (before) => ({ ...before, after: token }) })}
            />
            <MachinePanel
              machine={answer.machines.find(({ id }) => id === search.open)}
              onClose={() => open(undefined)}
            />
          </>
        )}
      </Answer>
    </>
  );
}

function queryOf({ q, host, connected, listed, broken, flagged, verification, after }: Search) {
  return {
    limit: ROWS,
    ...(q !== undefined && { q }),
    ...(host !== undefined && { host_id: host }),
    ...(connected && { connected }),
    ...(listed && { listed }),
    ...(broken && { broken }),
    ...(flagged && { flagged }),
    ...(verification && { verification }),
    ...(after !== undefined && { after_token: after }),
  };
}

function HostNote({ search: { host } }: { readonly search: Search }) {
  if (host === undefined) return <>The newest first</>;
  return (
    <>
      Of <AccountLink id={host} /> ·{" "}
      <Link to="/operate/machines" search={{}}>
        show those of all hosts
      </Link>
    </>
  );
}

type FilterProps = { readonly search: Search; readonly onChange: (changed: Search) => void };

function MachineFilters({ search, onChange }: FilterProps) {
  return (
    <Filters
      label="Find machines"
      placeholder="Id, host name, key or model"
      q={search.q}
      onText={(q) => onChange({ q })}
    >
      <Choice
        label="Connected"
        words={YES_NO}
        value={search.connected}
        onChange={(connected) => onChange({ connected })}
      />
      <Choice label="Listed" words={YES_NO} value={search.listed} onChange={(listed) => onChange({ listed })} />
      <Choice label="Broken GPU" words={YES_NO} value={search.broken} onChange={(broken) => onChange({ broken })} />
      <Choice label="Open flag" words={YES_NO} value={search.flagged} onChange={(flagged) => onChange({ flagged })} />
      <Choice
        label="Verification"
        words={VERIFICATIONS}
        value={search.verification}
        onChange={(verification) => onChange({ verification })}
      />
    </Filters>
  );
}

const VERIFICATIONS = [
  ["verified", "Verified"],
  ["unverified", "Not verified"],
  ["deverified", "Verification lost"],
] as const;

const COLUMNS: readonly Column<FoundMachine>[] = [
  {
    key: "name",
    title: "Machine",
    isName: true,
    cell: ({ id, hostname, is_simulated: isSimulated }) => (
      <>
        {id} <HostileText text={hostname} />
        {isSimulated && <span className="dim"> simulated</span>}
      </>
    ),
  },
  { key: "state", title: "State", isOnCard: true, cell: (row) => <MachineState machine={row} /> },
  {
    key: "gpus",
    title: "GPUs",
    isOnCard: true,
    cell: ({ gpu_count: gpus, gpu_name: name }) =>
      gpus === 0 ? <span className="dim">none</span> : <HostileText text={`${gpus}× ${name}`} />,
  },
  { key: "rented", title: "Rented", isFigure: true, cell: (row) => row.rented_count },
  { key: "price", title: "Per GPU", isFigure: true, isOnCard: true, cell: (row) => hourly(row.price_gpu) },
  { key: "reliability", title: "Reliable", isFigure: true, cell: ({ reliability }) => share(reliability) },
  { key: "verification", title: "Verification", cell: ({ verification }) => <StateBadge state={verification} /> },
  { key: "host", title: "Host", cell: (row) => <AccountLink id={row.host_id} name={row.host_email} /> },
  { key: "flags", title: "Flags", isFigure: true, cell: (row) => row.flag_count },
  { key: "reports", title: "Reports", isFigure: true, cell: (row) => row.report_count },
  { key: "seen", title: "Last seen", cell: (row) => <Ago at={row.last_seen_at} /> },
];

/** The state of a machine: away, broken, resting, listed or not. */
export function MachineState({ machine }: { readonly machine: FoundMachine }) {
  const { is_connected: isConnected, sick_count: sick, absent_count: absent, rests_until: restsUntil } = machine;
  if (!isConnected) return <StateBadge state="offline" />;
  if (sick + absent > 0) {
    return <StateBadge state={{ word: `${sick + absent} GPUs broken`, tone: "red", icon: "alert" }} />;
  }
  if (restsUntil !== null) return <StateBadge state={{ word: "resting", tone: "amber", icon: "clock" }} />;
  return <StateBadge state={machine.is_listed ? "listed" : { word: "not listed", tone: "grey", icon: "dot" }} />;
}
