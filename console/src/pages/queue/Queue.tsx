import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { standingRequestList, type StandingRequest } from "../../../../sdk/src/index.ts";
import { askPlain } from "../../api/query.ts";
import { QueueAdd } from "../../forms/queue-add.tsx";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { useChanged } from "../../parts/use-changed.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import type { Column } from "../../ui/table-types.ts";
import { priceOf, searchOf, stateWordOf } from "./request.ts";
import { RequestPanel } from "./RequestPanel.tsx";
import classes from "./queue.module.css";

const route = getRouteApi("/frame/queue");

/** Requests that wait for an offer, and what became of earlier ones. */
export function Queue() {
  const { q, isNew, request: openId } = route.useSearch();
  const navigate = route.useNavigate();
  const requests = useQuery(askPlain("queue.list", standingRequestList));
  const changed = useChanged("queue");
  const show = (search: { readonly q?: string; readonly isNew?: "true"; readonly request?: number }) =>
    void navigate({ search });
  return (
    <>
      <PageHead
        title="Queue"
        note="A request rents the first offer that fits it, also while you are away. Nothing is set aside until then."
        actions={
          <ActionButton variant="filled" onClick={() => show({ isNew: "true" })}>
            Wait for a machine
          </ActionButton>
        }
      />
      {requests.error !== null && <Failure error={requests.error} onRetry={() => void requests.refetch()} />}
      {(requests.data !== undefined || requests.error === null) && (
        <DataTable
          label="Requests"
          rows={requests.data?.standing_requests}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          startSort={{ key: "id", isDescending: true }}
          changed={changed}
          onOpen={({ id }) => show({ request: id })}
          openKey={openId}
          empty={
            <EmptyState title="Nothing waits">
              When no offer of the <Link to="/market">market</Link> fits, or none at your price, leave a request:
              conditions, a highest price, and what to run.
            </EmptyState>
          }
        />
      )}
      <Panel title="Wait for a machine" isOpen={isNew === "true"} onClose={() => show({})} width={560}>
        {isNew === "true" && <QueueAdd q={q ?? ""} onDone={(id) => show({ request: id })} />}
      </Panel>
      <RequestPanel id={openId} onClose={() => show({})} />
    </>
  );
}

const COLUMNS: readonly Column<StandingRequest>[] = [
  {
    key: "state",
    title: "State",
    isOnCard: true,
    sortBy: ({ status }) => status,
    cell: (one) => <StateBadge state={stateWordOf(one)} />,
  },
  {
    key: "id",
    title: "Request",
    isName: true,
    sortBy: ({ id }) => id,
    cell: ({ id, label }) => (
      <Link to="/queue" search={{ request: id }}>
        <span className="mono">{id}</span> {label !== null && <HostileText text={label} />}
      </Link>
    ),
  },
  {
    key: "looks",
    title: "Looks for",
    cell: (one) => (
      <span className={classes["search"]}>
        <HostileText text={searchOf(one)} />
      </span>
    ),
  },
  { key: "price", title: "Price", isOnCard: true, sortBy: ({ max_dph: max }) => max, cell: priceOf },
  {
    key: "place",
    title: "Place",
    isFigure: true,
    sortBy: ({ position }) => position,
    cell: ({ position }) => position ?? "–",
  },
  {
    key: "until",
    title: "Until",
    isOnCard: true,
    sortBy: ({ expires_at: at }) => at,
    cell: ({ status, expires_at: until, closed_at: closed }) => (
      <Ago at={status === "open" ? until : (closed ?? until)} />
    ),
  },
  {
    key: "instance",
    title: "Instance",
    sortBy: ({ instance_id: id }) => id,
    cell: ({ instance_id: id }) =>
      id === null ? (
        <span className="dim">–</span>
      ) : (
        <Link to="/instances/$id" params={{ id: String(id) }} className="mono">
          {id}
        </Link>
      ),
  },
];
