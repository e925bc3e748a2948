import { NumberInput, SegmentedControl, TextInput } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import type { Volume, VolumeOffer } from "../../../../sdk/src/index.ts";
import { RentVolume } from "../../forms/volume-rent.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { gigabytes, megabits, share } from "../../text/size.ts";
import { duration } from "../../text/time.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Money, Price } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import type { Column } from "../../ui/table-types.ts";
import { placeOf, spaceQuery } from "./volumes.ts";
import classes from "./volumes.module.css";

const SIZE_GB = 20;

type Props = {
  /** The volume to clone; undefined rents an empty one. */
  readonly source: Volume | undefined;
  readonly isNetwork: boolean;
  readonly onKind: (isNetwork: boolean) => void;
  readonly onDone: () => void;
};

/** Space for a volume of a size, and the way to rent it. */
export function Space({ source, isNetwork, onKind, onDone }: Props) {
  const least = Math.max(1, Math.ceil(source?.disk_space ?? 1));
  const [sizeGb, setSize] = useState(source === undefined ? SIZE_GB : least);
  const [name, setName] = useState("");
  const wanted = useDeferredValue(sizeGb);
  const query = useQuery({ ...spaceQuery({ isNetwork, sizeGb: wanted }), placeholderData: keepPreviousData });
  const offers = query.data?.offers;
  const choice = { source, isNetwork, sizeGb, name };
  return (
    <>
      <div className={classes["tools"]}>
        {source === undefined && (
          <SegmentedControl
            aria-label="Kind of volume"
            value={isNetwork ? "network" : "local"}
            onChange={(kind) => onKind(kind === "network")}
            data={[
              { value: "local", label: "On one machine" },
              { value: "network", label: "On a network disk" },
            ]}
          />
        )}
        <NumberInput
          label="Size in GB"
          min={least}
          value={sizeGb}
          onChange={(value) => typeof value === "number" && setSize(Math.max(least, value))}
        />
        {source === undefined && (
          <TextInput
            label="Name"
            placeholder="data"
            description="Letters, digits, _ and -"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
        )}
      </div>
      {query.error !== null && <Failure error={query.error} onRetry={() => void query.refetch()} />}
      {(offers !== undefined || query.error === null) && (
        <DataTable
          label="Space for a volume"
          rows={offers}
          columns={[
            ...COLUMNS,
            {
              key: "rent",
              title: source === undefined ? "Rent" : "Clone",
              cell: (offer) => <RentVolume offer={offer} {...choice} onDone={onDone} />,
            },
          ]}
          keyOf={({ id }) => id}
          empty={
            <EmptyState title={`No space for ${gigabytes(wanted)}`}>
              {isNetwork
                ? "Network disks are offered by hosts with several machines. None of them has this much space now."
                : "Hosts offer space for volumes beside their GPUs. None of them has this much space now; ask for less."}
            </EmptyState>
          }
        />
      )}
    </>
  );
}

const COLUMNS: readonly Column<VolumeOffer>[] = [
  { key: "place", title: "Where", isName: true, cell: (offer) => placeOf(offer), sortBy: placeOf },
  {
    key: "country",
    title: "Country",
    isOnCard: true,
    cell: ({ geolocation }) => <HostileText text={geolocation ?? "not said"} />,
    sortBy: ({ geolocation }) => geolocation,
  },
  {
    key: "free",
    title: "Free",
    isFigure: true,
    isOnCard: true,
    sortBy: ({ disk_space: free }) => free,
    cell: ({ disk_space: free }) => gigabytes(free),
  },
  {
    key: "price",
    title: "Price",
    isFigure: true,
    isOnCard: true,
    sortBy: ({ storage_total_cost: cost }) => cost,
    cell: ({ storage_total_cost: cost }) => <Price dollars={cost} />,
  },
  {
    key: "month",
    title: "GB and month",
    isFigure: true,
    sortBy: ({ storage_cost: cost }) => cost,
    cell: ({ storage_cost: cost }) => <Money dollars={cost} />,
  },
  {
    key: "disk",
    title: "Disk",
    sortBy: ({ disk_bw: speed }) => speed,
    cell: ({ disk_name: disk, disk_bw: speed }) => (
      <>
        <HostileText text={disk} /> <span className="dim">{speed > 0 ? `${Math.round(speed)} MB/s` : ""}</span>
      </>
    ),
  },
  {
    key: "net",
    title: "Net down",
    isFigure: true,
    sortBy: ({ inet_down: speed }) => speed,
    cell: ({ inet_down: speed }) => megabits(speed),
  },
  {
    key: "reliable",
    title: "Reliable",
    isFigure: true,
    sortBy: ({ reliability2: part }) => part,
    cell: ({ reliability2: part }) => share(part),
  },
  {
    key: "ends",
    title: "Ends in",
    isFigure: true,
    sortBy: ({ duration: seconds }) => seconds,
    cell: ({ duration: seconds }) => duration(seconds),
  },
];
