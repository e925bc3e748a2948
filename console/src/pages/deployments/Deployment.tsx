import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import {
  ApiError,
  deploymentDelete,
  deploymentShow,
  deploymentStart,
  deploymentStop,
  deploymentVersions,
  type Deployment as Record,
  type DeploymentVersion,
} from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { ask } from "../../api/query.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { bytes, count, gigabytes } from "../../text/size.ts";
import { duration } from "../../text/time.ts";
import { Confirm } from "../../ui/Confirm.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead, Section } from "../../ui/PageHead.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import type { Column } from "../../ui/table-types.ts";
import { stateOf } from "./deployment.ts";
import classes from "./deployments.module.css";

const route = getRouteApi("/frame/deployments/$id");
const CHANGES = ["endpoint", "instance", "balance"] as const;

/** One deployment: its state, its settings and its versions. */
export function Deployment() {
  const id = Number(route.useParams().id);
  const deployment = useQuery(ask("endpoint.deployment", deploymentShow, { id }));
  if (deployment.error instanceof ApiError && deployment.error.status === 404) return <Gone id={id} />;
  return (
    <Answer query={deployment} rows={10}>
      {({ deployment: found }) => <Shown deployment={found} />}
    </Answer>
  );
}

type Props = { readonly deployment: Record };

function Shown({ deployment }: Props) {
  const { id, name, tag } = deployment;
  const { state, sentence } = stateOf(deployment);
  return (
    <>
      <PageHead
        title={<HostileText text={`Deployment ${id} ${name}${tag === "default" ? "" : `:${tag}`}`} />}
        note={<StateBadge state={state} sentence={sentence} isSentenceShown />}
        actions={<Actions deployment={deployment} />}
      />
      <Facts deployment={deployment} />
      <Section title="Versions">
        <Versions id={id} />
      </Section>
    </>
  );
}

function Actions({ deployment: { id, name, endpoint_state: state, worker_count: workers } }: Props) {
  const navigate = useNavigate();
  const start = useAction(deploymentStart, { changes: CHANGES });
  const stop = useAction(deploymentStop, { changes: CHANGES });
  const remove = useAction(deploymentDelete, { changes: CHANGES, onDone: () => void navigate({ to: "/deployments" }) });
  const [isAsked, setAsked] = useState(false);
  const gone = state === null ? "Its endpoint was deleted." : undefined;
  const error = start.error ?? stop.error;
  return (
    <>
      <ActionButton
        onClick={() => start.mutate({ id })}
        isBusy={start.isPending}
        reason={gone ?? (state === "active" ? "It is active." : undefined)}
      >
        Start
      </ActionButton>
      <ActionButton
        onClick={() => stop.mutate({ id })}
        isBusy={stop.isPending}
        reason={gone ?? (state === "stopped" ? "It is stopped." : undefined)}
      >
        Stop
      </ActionButton>
      <ActionButton color="red" onClick={() => setAsked(true)}>
        Delete
      </ActionButton>
      <AsCommand
        command={["deployment", state === "stopped" ? "start" : "stop", String(id)]}
        request={{
          ...{ method: "POST" },
          path: state === "stopped" ? `/api/v0/deployment/${id}/start/` : `/api/v0/deployment/${id}/stop/`,
        }}
      />
      {error !== null && <Failure error={error} />}
      <Confirm
        isOpen={isAsked}
        title={`Delete deployment ${id}?`}
        action="Delete"
        loss={
          <>
            <p>
              All versions of its code, its endpoint and{" "}
              {workers === 0 ? "its worker groups" : `${count(workers, "worker")} with what is on their disks`} are
              lost. Its charges stay on the bill.
            </p>
            <AsCommand
              command={["deployment", "delete", String(id)]}
              request={{ method: "DELETE", path: `/api/v0/deployment/${id}/` }}
            />
          </>
        }
        typed={workers > 0 ? name : undefined}
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate({ id })}
        onClose={() => setAsked(false)}
      >
        {remove.error !== null && <Failure error={remove.error} />}
      </Confirm>
    </>
  );
}

function Facts({ deployment }: Props) {
  const { image, env, search_params: search, storage, ttl, endpoint_id: endpoint } = deployment;
  return (
    <dl className={classes["facts"]}>
      <dt>Endpoint</dt>
      <dd>
        {endpoint === null ? (
          "deleted"
        ) : (
          <Link to="/endpoints/$id" params={{ id: String(endpoint) }}>
            Endpoint {endpoint}: load, workers and decisions
          </Link>
        )}
      </dd>
      <dt>Image</dt>
      <dd>
        <HostileText text={image} />
      </dd>
      <dt>Environment</dt>
      <dd>
        <HostileText text={env === "" ? "none" : env} />
      </dd>
      <dt>Offers</dt>
      <dd>
        <HostileText text={search === "" ? "any" : search} />
      </dd>
      <dt>Disk of a worker</dt>
      <dd>{gigabytes(storage)}</dd>
      <dt>Torn down</dt>
      <dd>{ttl === null ? "never by itself" : `${duration(ttl)} after its last sign of life`}</dd>
    </dl>
  );
}

function Versions({ id }: { readonly id: number }) {
  const versions = useQuery(ask("endpoint.versions", deploymentVersions, { id }));
  return (
    <Answer query={versions}>
      {({ versions: rows }) => (
        <DataTable
          label="Versions"
          rows={rows}
          columns={COLUMNS}
          keyOf={({ id: version }) => version}
          empty={<EmptyState title="No versions yet">Each deployment of other code makes one.</EmptyState>}
        />
      )}
    </Answer>
  );
}

const COLUMNS: readonly Column<DeploymentVersion>[] = [
  {
    key: "state",
    title: "State",
    isOnCard: true,
    cell: ({ state, is_current: isCurrent, is_last_healthy: isHealthy }) => (
      <>
        <StateBadge state={isCurrent ? { word: "runs now", tone: "green", icon: "dot" } : state} />{" "}
        {isHealthy && <span className="dim">last one that became ready</span>}
      </>
    ),
  },
  {
    key: "id",
    title: "Version",
    isName: true,
    cell: ({ id, version_label: label }) => (
      <>
        <span className="mono">{id}</span> <HostileText text={label} />
      </>
    ),
  },
  {
    key: "hash",
    title: "Code",
    cell: ({ file_hash: hash }) => <span className="mono">{hash.slice(0, 12)}</span>,
  },
  { key: "size", title: "Size", isFigure: true, isOnCard: true, cell: ({ file_size: size }) => bytes(size) },
  { key: "image", title: "Image", cell: ({ image }) => <HostileText text={image} /> },
  { key: "made", title: "Sent", isFigure: true, isOnCard: true, cell: ({ created_at: at }) => <Ago at={at} /> },
];

function Gone({ id }: { readonly id: number }) {
  return (
    <>
      <PageHead title={`Deployment ${id}`} />
      <EmptyState title={`There is no deployment ${id}`}>
        It was deleted, or it is in another account. <Link to="/deployments">All deployments</Link>.
      </EmptyState>
    </>
  );
}
