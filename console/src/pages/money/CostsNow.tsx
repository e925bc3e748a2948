import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { instanceList, type Instance } from "../../../../sdk/src/index.ts";
import { askPlain } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { count } from "../../text/size.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Price } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import type { Column } from "../../ui/table-types.ts";
import { stateOf } from "../../parts/instance-state.ts";
import { useNow } from "../../ui/use-now.ts";

const SHOWN_MAX = 5;

/** The instances that cost most an hour as they are now. */
export function CostsNow() {
  const instances = useQuery(askPlain("instance.list", instanceList));
  const now = useNow();
  const columns: readonly Column<Instance>[] = [
    { key: "name", title: "Instance", isName: true, cell: (one) => <Name instance={one} /> },
    { key: "state", title: "State", isOnCard: true, cell: (one) => <StateBadge {...stateOf(one, now)} /> },
    {
      key: "price",
      title: "Costs now",
      isFigure: true,
      isOnCard: true,
      cell: (one) => <Price dollars={costOf(one)} />,
    },
    {
      key: "charges",
      title: "Charges",
      isOnCard: true,
      cell: ({ id }) => (
        <Link to="/instances/$id/charges" params={{ id: String(id) }} aria-label={`charges of instance ${id}`}>
          charges
        </Link>
      ),
    },
  ];
  return (
    <Section title="Biggest costs now" actions={<Link to="/instances">All instances</Link>}>
      <Answer query={instances} rows={3}>
        {({ instances: all }) => {
          const rows = all.toSorted((one, other) => costOf(other) - costOf(one)).slice(0, SHOWN_MAX);
          return (
            <>
              <DataTable
                label="Biggest costs now"
                rows={rows}
                columns={columns}
                keyOf={({ id }) => id}
                isSortedElsewhere
                empty={
                  <EmptyState title="Nothing costs money now">
                    Instances that run, disks and volumes cost money. You have no instances.
                  </EmptyState>
                }
              />
              {all.length > SHOWN_MAX && <p className="dim">{count(all.length - SHOWN_MAX, "more instance")}.</p>}
            </>
          );
        }}
      </Answer>
    </Section>
  );
}

/** A stopped instance costs its disk alone. */
function costOf({ actual_status: status, dph_total: whole, storage_total_cost: disk }: Instance): number {
  return status === "running" || status === "loading" ? whole : disk;
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
