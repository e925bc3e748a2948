import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Machine } from "../../../../sdk/src/index.ts";
import { Failure } from "../../parts/Failure.tsx";
import { useChanged } from "../../parts/use-changed.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago, Money, Price } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import type { Column } from "../../ui/table-types.ts";
import { useNow } from "../../ui/use-now.ts";
import { hardwareOf, machinesQuery, stateOf, occupancyOf } from "./machine.ts";

const route = getRouteApi("/frame/host/machines");

/** All machines of the host: what each does, its price, and what it earned today. */
export function Machines() {
  const navigate = route.useNavigate();
  const machines = useQuery(machinesQuery);
  const changed = useChanged("machine");
  const now = useNow();
  const columns = useMemo(() => columnsAt(now), [now]);
  const rows = machines.data?.machines;
  const join = (
    <Button component={Link} to="/host/join" variant="filled">
      Join a machine
    </Button>
  );
  return (
    <>
      <PageHead title="Machines" actions={rows !== undefined && rows.length > 0 && join} />
      {machines.error !== null && <Failure error={machines.error} onRetry={() => void machines.refetch()} />}
      {(rows !== undefined || machines.error === null) && (
        <DataTable
          label="Machines"
          rows={rows}
          columns={columns}
          keyOf={({ id }) => id}
          empty={
            <EmptyState title="No machines" action={join}>
              One command makes a machine a host. It is listed here with its GPUs, rentals and earnings.
            </EmptyState>
          }
          startSort={{ key: "id", isDescending: false }}
          changed={changed}
          onOpen={({ id }) => void navigate({ to: "/host/machines/$id", params: { id: String(id) } })}
        />
      )}
    </>
  );
}

function columnsAt(now: number): readonly Column<Machine>[] {
  return [
    {
      key: "state",
      title: "State",
      isOnCard: true,
      sortBy: (one) => stateOf(one, now).state.word,
      cell: (one) => <StateBadge {...stateOf(one, now)} />,
    },
    { key: "id", title: "Name", isName: true, sortBy: ({ id }) => id, cell: (one) => <Name machine={one} /> },
    {
      key: "hardware",
      title: "GPUs",
      sortBy: hardwareOf,
      cell: (one) => <HostileText text={hardwareOf(one)} />,
    },
    {
      key: "use",
      title: "Rented, free, sick",
      isOnCard: true,
      sortBy: (one) => occupancyOf(one).rented,
      cell: (one) => <Use machine={one} />,
    },
    {
      key: "price",
      title: "Price of a GPU",
      isFigure: true,
      sortBy: ({ listed_gpu_cost: price }) => price,
      cell: ({ listed_gpu_cost: price }) => <Price dollars={price} />,
    },
    {
      key: "earned",
      title: "Earned today",
      isFigure: true,
      isOnCard: true,
      sortBy: ({ earn_day: earned }) => earned,
      cell: ({ earn_day: earned }) => <Money dollars={earned} />,
    },
    {
      key: "until",
      title: "Listed until",
      sortBy: ({ end_date: end, listed }) => (listed ? end : null),
      cell: ({ end_date: end, listed }) => (listed ? <Ago at={end} /> : <span className="dim">–</span>),
    },
    {
      key: "verification",
      title: "Verification",
      sortBy: ({ verification }) => verification,
      cell: ({ verification }) => <StateBadge state={verification} />,
    },
  ];
}

function Name({ machine: { id, hostname, is_simulated: isSimulated } }: { readonly machine: Machine }) {
  return (
    <Link to="/host/machines/$id" params={{ id: String(id) }}>
      <span className="mono">{id}</span>
      {hostname !== null && hostname !== "" && (
        <>
          {" "}
          <HostileText text={hostname} />
        </>
      )}
      {isSimulated && <span className="dim"> simulated</span>}
    </Link>
  );
}

function Use({ machine }: { readonly machine: Machine }) {
  const { rented, free, sick } = occupancyOf(machine);
  if (machine.num_gpus === 0) return <span>{rented === 0 ? "free" : `${rented} cores rented`}</span>;
  return (
    <span>
      {rented} rented, {free} free{sick > 0 && <b>, {sick} sick</b>}
    </span>
  );
}
