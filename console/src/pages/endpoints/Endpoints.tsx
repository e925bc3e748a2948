import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { endpointList, endpointSpend, type Endpoint, type EndpointHistoryResponse } from "../../../../sdk/src/index.ts";
import { ask, askPlain } from "../../api/query.ts";
import { Spark } from "../../charts/Spark.tsx";
import { CreateEndpoint } from "../../forms/endpoint-create.tsx";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { useChanged } from "../../parts/use-changed.ts";
import { count } from "../../text/size.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Price } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import type { Column } from "../../ui/table-types.ts";
import { historyQuery, lastOf, stateSentence, unitsText, workersText } from "./endpoint.ts";
import classes from "./endpoints.module.css";

type Row = Endpoint & { readonly costPerHour: number };
const route = getRouteApi("/frame/endpoints");

export function Endpoints() {
  const navigate = route.useNavigate();
  const { create: isCreating = false } = route.useSearch();
  const endpoints = useQuery(askPlain("endpoint.list", endpointList));
  const spend = useQuery(ask("endpoint.spend", endpointSpend, {}));
  const changed = useChanged("endpoint");
  const [createdCount, setCreatedCount] = useState(0);
  const openCreate = () => {
    setCreatedCount(createdCount + 1);
    void navigate({ search: { create: true } });
  };
  const costs = new Map(spend.data?.endpoints.map(({ id, hourly_spend: cost }) => [id, cost]));
  const rows = endpoints.data?.results.map((one): Row => ({ ...one, costPerHour: costs.get(one.id) ?? 0 }));
  const create = (
    <ActionButton variant="filled" onClick={openCreate}>
      Create an endpoint
    </ActionButton>
  );
  return (
    <>
      <PageHead
        title="Endpoints"
        note="Workers that are rented, started and stopped as requests come."
        actions={rows !== undefined && rows.length > 0 && create}
      />
      {endpoints.error !== null && <Failure error={endpoints.error} onRetry={() => void endpoints.refetch()} />}
      {(rows !== undefined || endpoints.error === null) && (
        <DataTable
          label="Endpoints"
          rows={rows}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          changed={changed}
          startSort={{ key: "name", isDescending: false }}
          onOpen={({ id }) => void navigate({ to: "/endpoints/$id", params: { id: String(id) } })}
          empty={<NoEndpoints action={create} />}
        />
      )}
      <Panel title="Create an endpoint" isOpen={isCreating} onClose={() => void navigate({ search: {} })} width={720}>
        <CreateEndpoint key={createdCount} />
      </Panel>
    </>
  );
}

const COLUMNS: readonly Column<Row>[] = [
  {
    key: "state",
    title: "State",
    isOnCard: true,
    sortBy: ({ endpoint_state: state }) => state,
    cell: ({ endpoint_state: state }) => <StateBadge state={state} sentence={stateSentence(state)} />,
  },
  {
    key: "name",
    title: "Name",
    isName: true,
    sortBy: ({ endpoint_name: name }) => name,
    cell: ({ id, endpoint_name: name }) => (
      <Link to="/endpoints/$id" params={{ id: String(id) }} className={classes["name"]}>
        <span className="mono">{id}</span> <HostileText text={name} />
      </Link>
    ),
  },
  {
    key: "load",
    title: "Load, last hour",
    cell: ({ id, endpoint_name: name }) => (
      <Lately id={id} show={(history) => <Load name={name} history={history} />} />
    ),
  },
  {
    key: "workers",
    title: "Workers",
    isOnCard: true,
    cell: ({ id }) => <Lately id={id} show={({ workers }) => workersText(workers) ?? "none yet"} />,
  },
  {
    key: "queue",
    title: "Queue",
    isFigure: true,
    cell: ({ id }) => <Lately id={id} show={({ queued }) => count(lastOf(queued) ?? 0, "request")} />,
  },
  {
    key: "cost",
    title: "Cost",
    isFigure: true,
    isOnCard: true,
    sortBy: ({ costPerHour: cost }) => cost,
    cell: ({ costPerHour: cost }) => <Price dollars={cost} />,
  },
];

type LatelyProps = { readonly id: number; readonly show: (history: EndpointHistoryResponse) => ReactNode };

/** A figure of an endpoint's last hour; the cells of a row share one request. */
function Lately({ id, show }: LatelyProps) {
  const { data } = useQuery(historyQuery(id));
  return data === undefined ? <span className="dim">–</span> : <>{show(data)}</>;
}

function Load({ name, history: { load } }: { readonly name: string; readonly history: EndpointHistoryResponse }) {
  // The last step is still under way, so the one before it is the present load.
  const now = load.at(-2) ?? 0;
  return (
    <span className={classes["load"]}>
      <Spark
        label={`Load of ${name} in the last hour, now ${unitsText(now)}`}
        values={load}
        max={Math.max(1e-9, ...load)}
      />
      {unitsText(now)}
    </span>
  );
}

function NoEndpoints({ action }: { readonly action: ReactNode }) {
  return (
    <EmptyState title="No endpoints yet" action={action}>
      An endpoint has one address for all requests and rents workers for them as they come. Create one, then say in a
      worker group what its workers run. It costs nothing while it has no workers. How it decides is in{" "}
      <Link to="/help/$page" params={{ page: "endpoints" }}>
        the pages about endpoints
      </Link>
      .
    </EmptyState>
  );
}
