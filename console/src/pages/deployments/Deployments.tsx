import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { deploymentList, type Deployment } from "../../../../sdk/src/index.ts";
import { askPlain } from "../../api/query.ts";
import { Failure } from "../../parts/Failure.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import type { Column } from "../../ui/table-types.ts";
import { stateOf } from "./deployment.ts";

const route = getRouteApi("/frame/deployments");

export function Deployments() {
  const navigate = route.useNavigate();
  const deployments = useQuery(askPlain("endpoint.deployments", deploymentList));
  const rows = deployments.data?.deployments;
  return (
    <>
      <PageHead title="Deployments" note="Directories of code that the workers of an endpoint run." />
      {deployments.error !== null && <Failure error={deployments.error} onRetry={() => void deployments.refetch()} />}
      {(rows !== undefined || deployments.error === null) && (
        <DataTable
          label="Deployments"
          rows={rows}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          startSort={{ key: "name", isDescending: false }}
          onOpen={({ id }) => void navigate({ to: "/deployments/$id", params: { id: String(id) } })}
          empty={<NoDeployments />}
        />
      )}
    </>
  );
}

const COLUMNS: readonly Column<Deployment>[] = [
  {
    key: "state",
    title: "State",
    isOnCard: true,
    sortBy: (one) => stateOf(one).state,
    cell: (one) => {
      const { state, sentence } = stateOf(one);
      return <StateBadge state={state} sentence={sentence} />;
    },
  },
  {
    key: "name",
    title: "Name",
    isName: true,
    sortBy: ({ name, tag }) => `${name} ${tag}`,
    cell: ({ id, name, tag }) => (
      <Link to="/deployments/$id" params={{ id: String(id) }}>
        <span className="mono">{id}</span> <HostileText text={tag === "default" ? name : `${name}:${tag}`} />
      </Link>
    ),
  },
  {
    key: "image",
    title: "Image",
    isOnCard: true,
    sortBy: ({ image }) => image,
    cell: ({ image }) => <HostileText text={image} />,
  },
  {
    key: "workers",
    title: "Workers",
    isFigure: true,
    isOnCard: true,
    sortBy: ({ worker_count: workers }) => workers,
    cell: ({ worker_count: workers }) => workers,
  },
  {
    key: "updated",
    title: "Changed",
    isFigure: true,
    sortBy: ({ updated_at: at }) => at,
    cell: ({ updated_at: at }) => <Ago at={at} />,
  },
];

function NoDeployments() {
  return (
    <EmptyState title="No deployments yet">
      A deployment is a directory of code that the workers of an endpoint run. Make one from the directory itself, since
      its files are sent: <code>berth deployment deploy DIR --image IMAGE</code>. More is in{" "}
      <Link to="/help/$page" params={{ page: "deployments" }}>
        the page about deployments
      </Link>
      .
    </EmptyState>
  );
}
