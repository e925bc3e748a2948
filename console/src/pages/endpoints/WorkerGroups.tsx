import { Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { workergroupDelete, workergroupList, type WorkerGroup } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { askPlain } from "../../api/query.ts";
import { WorkerGroupForm } from "../../forms/workergroup.tsx";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { count } from "../../text/size.ts";
import { duration } from "../../text/time.ts";
import { Confirm } from "../../ui/Confirm.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Price } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import type { Column } from "../../ui/table-types.ts";
import { useNow } from "../../ui/use-now.ts";
import classes from "./endpoints.module.css";

type Asked =
  | { readonly kind: "add" }
  | { readonly kind: "change"; readonly group: WorkerGroup }
  | { readonly kind: "delete"; readonly group: WorkerGroup };

/** The worker groups of an endpoint: what their workers run, and where they may be rented. */
export function WorkerGroups({ endpointId }: { readonly endpointId: number }) {
  const groups = useQuery(askPlain("endpoint.groups", workergroupList));
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  const now = useNow();
  const own = groups.data?.results.filter(({ endpoint_id: id }) => id === endpointId);
  const add = <ActionButton onClick={() => setAsked({ kind: "add" })}>Add a worker group</ActionButton>;
  return (
    <Section title="Worker groups" actions={own !== undefined && own.length > 0 && add}>
      {groups.error !== null && <Failure error={groups.error} onRetry={() => void groups.refetch()} />}
      {(own !== undefined || groups.error === null) && (
        <DataTable
          label="Worker groups"
          rows={own}
          columns={columnsOf(now, setAsked)}
          keyOf={({ id }) => id}
          empty={
            <EmptyState title="No worker groups yet" action={add}>
              A worker group says what workers run, by a template or an image, and which offers they may take. Without
              one the endpoint rents nothing.
            </EmptyState>
          }
        />
      )}
      <Panel
        title={asked?.kind === "change" ? `Worker group ${asked.group.id}` : "Add a worker group"}
        isOpen={asked?.kind === "add" || asked?.kind === "change"}
        onClose={close}
      >
        <WorkerGroupForm
          endpointId={endpointId}
          group={asked?.kind === "change" ? asked.group : undefined}
          onDone={close}
        />
      </Panel>
      {asked?.kind === "delete" && <Delete group={asked.group} onClose={close} />}
    </Section>
  );
}

function columnsOf(now: number, ask: (asked: Asked) => void): readonly Column<WorkerGroup>[] {
  return [
    {
      key: "state",
      title: "State",
      isOnCard: true,
      cell: (group) => {
        const { word, sentence } = stateOf(group, now);
        return <StateBadge state={word} sentence={sentence} />;
      },
    },
    {
      key: "id",
      title: "Group",
      isName: true,
      sortBy: ({ id }) => id,
      cell: ({ id }) => <span className="mono">{id}</span>,
    },
    {
      key: "runs",
      title: "Runs",
      isOnCard: true,
      cell: ({ template_hash: template, launch_args: launch }) => (
        <span className={classes["long"]}>
          <HostileText text={launch === "" ? `template ${template.slice(0, 12)}` : launch} />
        </span>
      ),
    },
    {
      key: "where",
      title: "Offers",
      cell: ({ search_params: search }) => (
        <span className={classes["long"]}>
          <HostileText text={search === "" ? "any" : search} />
        </span>
      ),
    },
    {
      key: "price",
      title: "At most",
      isFigure: true,
      isOnCard: true,
      sortBy: ({ max_dph: price }) => price ?? null,
      cell: ({ max_dph: price, is_max_dph_by_owner: isOwn }) => (
        <>
          <Price dollars={price} />{" "}
          {price !== undefined && <span className="dim">{isOwn ? "by you" : "by the market"}</span>}
        </>
      ),
    },
    { key: "workers", title: "Workers", isFigure: true, cell: ({ max_workers: most }) => `at most ${most}` },
    {
      key: "actions",
      title: "Actions",
      cell: (group) => <Buttons group={group} ask={ask} />,
    },
  ];
}

type ButtonsProps = { readonly group: WorkerGroup; readonly ask: (asked: Asked) => void };

function Buttons({ group, ask }: ButtonsProps) {
  return (
    <Group gap={4} wrap="nowrap">
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => ask({ kind: "change", group })}
        aria-label={`Change worker group ${group.id}`}
      >
        Change
      </Button>
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => ask({ kind: "delete", group })}
        aria-label={`Delete worker group ${group.id}`}
      >
        Delete
      </Button>
    </Group>
  );
}

type State = { readonly word: string; readonly sentence: string | undefined };

function stateOf(group: WorkerGroup, now: number): State {
  const {
    waits_for_price_since: waitsSince,
    resumes_at: resumesAt,
    failure_count: failures,
    is_updating: isUpdating,
  } = group;
  if (waitsSince !== undefined) {
    return {
      word: "waiting",
      sentence: `For ${duration(now - waitsSince)} every matching offer has cost more than its maximum`,
    };
  }
  if (resumesAt !== undefined && resumesAt > now) {
    const failed = `${count(failures, "worker")} failed in a row`;
    return { word: "error", sentence: `${failed}; it rents again in ${duration(resumesAt - now)}` };
  }
  if (isUpdating) return { word: "update_ready", sentence: "Its workers are updated one by one" };
  return { word: "active", sentence: undefined };
}

function Delete({ group: { id }, onClose }: { readonly group: WorkerGroup; readonly onClose: () => void }) {
  const remove = useAction(workergroupDelete, { changes: ["endpoint", "instance", "balance"], onDone: onClose });
  return (
    <Confirm
      isOpen
      title={`Delete worker group ${id}?`}
      action="Delete"
      loss={
        <>
          <p>Its workers and what is on their disks are lost. The endpoint and its other groups stay.</p>
          <AsCommand
            command={["workergroup", "delete", String(id)]}
            request={{ method: "DELETE", path: `/api/v0/workergroups/${id}/` }}
          />
        </>
      }
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate({ id })}
      onClose={onClose}
    >
      {remove.error !== null && <Failure error={remove.error} />}
    </Confirm>
  );
}
