import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Button } from "@mantine/core";
import type { Worker } from "../../../../sdk/src/index.ts";
import { Failure } from "../../parts/Failure.tsx";
import { useChanged } from "../../parts/use-changed.ts";
import { count } from "../../text/size.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago, Price } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import type { Column } from "../../ui/table-types.ts";
import { figure, unitsText, workersQuery } from "./endpoint.ts";
import { EndpointEvents } from "./EndpointEvents.tsx";

const route = getRouteApi("/frame/endpoints/$id/");

/** The workers of an endpoint: what each does, serves and costs, and its own story. */
export function EndpointWorkers({ id }: { readonly id: number }) {
  const workers = useQuery(workersQuery(id));
  const changed = useChanged("worker");
  const { worker: opened } = route.useSearch();
  const navigate = route.useNavigate();
  const open = (worker: number | undefined) => void navigate({ search: (last) => ({ ...last, worker }) });
  if (workers.error !== null && workers.data === undefined)
    return <Failure error={workers.error} onRetry={() => void workers.refetch()} />;
  return (
    <>
      <DataTable
        label="Workers"
        rows={workers.data}
        columns={[...COLUMNS, storyColumn(open)]}
        keyOf={({ id: worker }) => worker}
        changed={changed}
        openKey={opened}
        startSort={{ key: "id", isDescending: false }}
        empty={
          <EmptyState title="No workers now">
            Workers are rented when the load, or the workers that are always kept, ask for them, and a worker group says
            what they run.
          </EmptyState>
        }
      />
      <Panel title={`Worker ${opened ?? ""}`} isOpen={opened !== undefined} onClose={() => open(undefined)}>
        {opened !== undefined && <Story endpointId={id} worker={opened} />}
      </Panel>
    </>
  );
}

function Story({ endpointId, worker }: { readonly endpointId: number; readonly worker: number }) {
  const params = { id: String(worker) };
  return (
    <>
      <p>
        It is{" "}
        <Link to="/instances/$id" params={params}>
          instance {worker}
        </Link>
        ;{" "}
        <Link to="/instances/$id/logs" params={params}>
          the log of its container
        </Link>
        .
      </p>
      <EndpointEvents id={endpointId} worker={worker} />
    </>
  );
}

function storyColumn(open: (worker: number) => void): Column<Worker> {
  return {
    key: "story",
    title: "Story",
    cell: ({ id }) => (
      <Button size="compact-xs" variant="default" onClick={() => open(id)} aria-label={`Story of worker ${id}`}>
        Story
      </Button>
    ),
  };
}

const COLUMNS: readonly Column<Worker>[] = [
  {
    key: "state",
    title: "State",
    isOnCard: true,
    sortBy: ({ status }) => status,
    cell: ({ status, error_msg: error }) => <StateBadge state={status} sentence={error} />,
  },
  {
    key: "id",
    title: "Worker",
    isName: true,
    sortBy: ({ id }) => id,
    cell: ({ id }) => (
      <Link to="/instances/$id" params={{ id: String(id) }} className="mono">
        {id}
      </Link>
    ),
  },
  {
    key: "machine",
    title: "Machine",
    sortBy: ({ machine_id: machine }) => machine ?? null,
    cell: ({ machine_id: machine, gpu_name: gpu }) => (
      <HostileText text={[machine, gpu].filter((part) => part !== undefined && part !== "").join(" · ") || "–"} />
    ),
  },
  {
    key: "load",
    title: "Load",
    isFigure: true,
    isOnCard: true,
    sortBy: ({ cur_load: load }) => load ?? null,
    cell: ({ cur_load: load, reqs_working: requests = 0 }) =>
      load === undefined ? "–" : `${figure(load)} units in ${count(requests, "request")}`,
  },
  {
    key: "seen",
    title: "Measured",
    isFigure: true,
    sortBy: ({ cur_perf: perf }) => perf ?? null,
    cell: ({ cur_perf: perf }) => (perf === undefined ? "–" : unitsText(perf)),
  },
  {
    key: "claimed",
    title: "Its own claim",
    isFigure: true,
    sortBy: ({ measured_perf: perf }) => perf ?? null,
    cell: ({ measured_perf: perf }) => (perf === undefined ? "–" : unitsText(perf)),
  },
  {
    key: "cost",
    title: "Cost",
    isFigure: true,
    isOnCard: true,
    sortBy: ({ dph_total: cost }) => cost ?? null,
    cell: ({ dph_total: cost }) => <Price dollars={cost} />,
  },
  {
    key: "since",
    title: "Since",
    isFigure: true,
    sortBy: ({ created_at: at }) => -at,
    cell: ({ created_at: at }) => <Ago at={at} />,
  },
];
