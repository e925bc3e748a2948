import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { instanceList, instanceSparks, type Instance } from "../../../../sdk/src/index.ts";
import { ask, askPlain } from "../../api/query.ts";
import { Spark } from "../../charts/Spark.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { useChanged } from "../../parts/use-changed.ts";
import { duration } from "../../text/time.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Price } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import type { Column } from "../../ui/table-types.ts";
import { useNow } from "../../ui/use-now.ts";
import { Connect } from "./Connect.tsx";
import { FirstSteps } from "./FirstSteps.tsx";
import { stateOf } from "../../parts/instance-state.ts";
import { gpusOf } from "./instance.ts";
import { ManyActions } from "./ManyActions.tsx";

const route = getRouteApi("/frame/instances");

export function Instances() {
  const navigate = route.useNavigate();
  const instances = useQuery(askPlain("instance.list", instanceList));
  const changed = useChanged("instance");
  const [chosen, setChosen] = useState<ReadonlySet<string | number>>(new Set());
  const now = useNow();
  const sparks = useQuery(ask("instance.sparks", instanceSparks, {})).data?.instances;
  const columns = useMemo(() => columnsAt(now, new Map(sparks?.map((one) => [one.id, one.gpu_util]))), [now, sparks]);
  const rows = instances.data?.instances;
  const picked = rows?.filter(({ id }) => chosen.has(id)) ?? [];
  return (
    <>
      <PageHead title="Instances" actions={rows !== undefined && rows.length > 0 && <RentOne />} />
      {instances.error !== null && <Failure error={instances.error} onRetry={() => void instances.refetch()} />}
      {picked.length > 0 && <ManyActions instances={picked} onDone={() => setChosen(new Set())} />}
      {(rows !== undefined || instances.error === null) && (
        <DataTable
          label="Instances"
          rows={rows}
          columns={columns}
          keyOf={({ id }) => id}
          empty={<NoInstances />}
          startSort={{ key: "id", isDescending: true }}
          changed={changed}
          chosen={chosen}
          onChoose={setChosen}
          onOpen={({ id }) => void navigate({ to: "/instances/$id", params: { id: String(id) } })}
        />
      )}
    </>
  );
}

type Sparks = ReadonlyMap<number, readonly (number | null)[]>;

function columnsAt(now: number, sparks: Sparks): readonly Column<Instance>[] {
  return [
    {
      key: "state",
      title: "State",
      isOnCard: true,
      sortBy: (one) => stateOf(one, now).state,
      cell: (one) => <State instance={one} now={now} />,
    },
    { key: "id", title: "Name", isName: true, sortBy: ({ id }) => id, cell: (one) => <Name instance={one} /> },
    { key: "gpu", title: "GPU", isOnCard: true, sortBy: gpusOf, cell: (one) => <HostileText text={gpusOf(one)} /> },
    {
      key: "machine",
      title: "Machine",
      isFigure: true,
      sortBy: ({ machine_id: id }) => id,
      cell: ({ machine_id: id }) => id,
    },
    {
      key: "use",
      title: "GPU use",
      isFigure: true,
      sortBy: ({ gpu_util: use }) => use,
      cell: (one) => <Use instance={one} spark={sparks.get(one.id)} />,
    },
    {
      key: "price",
      title: "Price",
      isFigure: true,
      isOnCard: true,
      sortBy: ({ dph_total: price }) => price,
      cell: ({ dph_total: price }) => <Price dollars={price} />,
    },
    {
      key: "up",
      title: "Since",
      isFigure: true,
      sortBy: ({ start_date: at }) => -at,
      cell: ({ start_date: at }) => duration(now - at),
    },
    { key: "connect", title: "Connect", cell: (one) => <Connect instance={one} /> },
  ];
}

function State({ instance, now }: { readonly instance: Instance; readonly now: number }) {
  const { state, sentence } = stateOf(instance, now);
  return <StateBadge state={state} sentence={sentence} />;
}

function Name({ instance: { id, label } }: { readonly instance: Instance }) {
  return (
    <Link to="/instances/$id" params={{ id: String(id) }}>
      <span className="mono">{id}</span>
      {label !== null && label !== "" && (
        <>
          {" "}
          <HostileText text={label} />
        </>
      )}
    </Link>
  );
}

function Use({
  instance: { gpu_util: use },
  spark,
}: {
  readonly instance: Instance;
  readonly spark: readonly (number | null)[] | undefined;
}) {
  const last = use === null ? "–" : `${Math.round(use)} %`;
  if (spark === undefined || spark.every((value) => value === null)) return last;
  return (
    <>
      <Spark label={`GPU use in the last hour, now ${last}`} values={spark} max={100} width={64} height={16} /> {last}
    </>
  );
}

function RentOne() {
  return (
    <Button component={Link} to="/market" variant="filled">
      Rent a machine
    </Button>
  );
}

function NoInstances() {
  return (
    <EmptyState title="No instances yet" action={<RentOne />}>
      <FirstSteps />
    </EmptyState>
  );
}
