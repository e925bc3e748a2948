import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Volume } from "../../../../sdk/src/index.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { reasonOf } from "../../parts/reason.ts";
import { Failure } from "../../parts/Failure.tsx";
import { useChanged } from "../../parts/use-changed.ts";
import { gigabytes } from "../../text/size.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago, Money, Price } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead, Section } from "../../ui/PageHead.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import type { Column } from "../../ui/table-types.ts";
import { Clouds } from "./Clouds.tsx";
import { DeleteVolume } from "./DeleteVolume.tsx";
import { Space } from "./Space.tsx";
import { placeOf, volumesQuery } from "./volumes.ts";
import classes from "./volumes.module.css";

const route = getRouteApi("/frame/volumes");

export function Volumes() {
  const { clone: cloneId, space } = route.useSearch();
  const navigate = route.useNavigate();
  const volumes = useQuery(volumesQuery);
  const changed = useChanged("volume");
  const [doomed, setDoomed] = useState<Volume | undefined>(undefined);
  const rows = volumes.data?.volumes;
  const clone = (id: number | undefined) =>
    void navigate({ search: (before) => ({ ...before, clone: id }), replace: true });
  const source = rows?.find(({ id }) => id === cloneId);
  return (
    <>
      <PageHead
        title="Volumes"
        note="Disks that outlive instances. A local one stays on its machine; a network one is mounted by several."
      />
      {volumes.error !== null && <Failure error={volumes.error} onRetry={() => void volumes.refetch()} />}
      {(rows !== undefined || volumes.error === null) && (
        <DataTable
          label="Your volumes"
          rows={rows}
          columns={columnsOf({ onClone: clone, onDelete: setDoomed })}
          keyOf={({ id }) => id}
          changed={changed}
          empty={
            <EmptyState title="No volumes">
              Rent space below, or with an instance on the <Link to="/market">market</Link>. Files on a volume stay when
              the instance is destroyed.
            </EmptyState>
          }
        />
      )}
      <Section
        title={source === undefined ? "Rent a volume" : `Clone volume ${source.id}`}
        actions={
          source !== undefined && (
            <Button variant="default" onClick={() => clone(undefined)}>
              Rent an empty one instead
            </Button>
          )
        }
      >
        <Space
          key={source?.id ?? 0}
          source={source}
          isNetwork={space === "network" && source === undefined}
          onKind={(isNetwork) =>
            void navigate({
              search: (before) => ({ ...before, space: isNetwork ? ("network" as const) : undefined }),
              replace: true,
            })
          }
          onDone={() => clone(undefined)}
        />
      </Section>
      <Clouds />
      {doomed !== undefined && <DeleteVolume volume={doomed} onClose={() => setDoomed(undefined)} />}
    </>
  );
}

const SIZES: readonly Column<Volume>[] = [
  { key: "name", title: "Name", sortBy: ({ label }) => label, cell: ({ label }) => <HostileText text={label} /> },
  {
    key: "status",
    title: "State",
    isOnCard: true,
    sortBy: ({ status }) => status,
    cell: ({ status, status_msg: message }) => (
      <span className={classes["state"]}>
        <StateBadge state={status} />
        {message !== "" && (
          <span className="dim">
            <HostileText text={message} />
          </span>
        )}
      </span>
    ),
  },
  {
    key: "size",
    title: "Size",
    isFigure: true,
    isOnCard: true,
    sortBy: ({ disk_space: size }) => size,
    cell: ({ disk_space: size, used_space: used }) => (
      <>
        {gigabytes(size)} <span className="dim">({gigabytes(used)} used)</span>
      </>
    ),
  },
  {
    key: "price",
    title: "Price",
    isFigure: true,
    isOnCard: true,
    sortBy: ({ storage_total_cost: cost }) => cost,
    cell: ({ storage_total_cost: cost }) => <Price dollars={cost} />,
  },
];

const PLACES: readonly Column<Volume>[] = [
  {
    key: "month",
    title: "GB and month",
    isFigure: true,
    sortBy: ({ storage_cost: cost }) => cost,
    cell: ({ storage_cost: cost }) => <Money dollars={cost} />,
  },
  { key: "place", title: "Where", sortBy: placeOf, cell: (volume) => placeOf(volume) },
  {
    key: "used",
    title: "Used by",
    cell: ({ instances }) =>
      instances.length === 0
        ? "none"
        : instances.map((id) => (
            <Link key={id} to="/instances/$id" params={{ id: String(id) }} className={classes["user"]}>
              {id}
            </Link>
          )),
  },
  {
    key: "end",
    title: "Rented until",
    sortBy: ({ end_date: end }) => end,
    cell: ({ end_date: end, deletes_at: deletes }) => (
      <>
        <Ago at={end} />
        {deletes !== null && (
          <span className="dim">
            , deleted <Ago at={deletes} />
          </span>
        )}
      </>
    ),
  },
];

type Means = { readonly onClone: (id: number) => void; readonly onDelete: (volume: Volume) => void };

function columnsOf({ onClone, onDelete }: Means): readonly Column<Volume>[] {
  return [
    ...SIZES,
    ...PLACES,
    {
      key: "actions",
      title: "Actions",
      cell: (volume) => (
        <span className={classes["actions"]}>
          <ActionButton
            size="compact-xs"
            onClick={() => onClone(volume.id)}
            reason={reasonOf(volume.allowed_actions.clone)}
          >
            Clone
          </ActionButton>
          <ActionButton
            size="compact-xs"
            onClick={() => onDelete(volume)}
            reason={reasonOf(volume.allowed_actions.delete)}
          >
            Delete
          </ActionButton>
        </span>
      ),
    },
  ];
}
