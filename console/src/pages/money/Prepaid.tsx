import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { instanceList, type Instance } from "../../../../sdk/src/index.ts";
import { askPlain } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { share } from "../../text/size.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Money } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import type { Column } from "../../ui/table-types.ts";

const COLUMNS: readonly Column<Instance>[] = [
  {
    key: "instance",
    title: "Instance",
    isName: true,
    cell: ({ id, label }) => (
      <Link to="/instances/$id" params={{ id: String(id) }}>
        <span className="mono">{id}</span> {label !== null && <HostileText text={label} />}
      </Link>
    ),
  },
  {
    key: "left",
    title: "Left of the deposit",
    isFigure: true,
    isOnCard: true,
    cell: ({ credit_balance: left }) => <Money dollars={left} />,
  },
  {
    key: "discount",
    title: "Discount",
    isFigure: true,
    isOnCard: true,
    cell: ({ credit_discount: discount }) => (discount === null ? "–" : share(discount)),
  },
];

/** Instances that are paid in advance, and what is left of each deposit. */
export function Prepaid() {
  const instances = useQuery(askPlain("instance.list", instanceList));
  return (
    <Section title="Paid in advance">
      <Answer query={instances} rows={2}>
        {({ instances: all }) => (
          <DataTable
            label="Paid in advance"
            rows={all.filter(({ is_reserved: isReserved }) => isReserved)}
            columns={COLUMNS}
            keyOf={({ id }) => id}
            empty={
              <EmptyState title="No instance is paid in advance">
                A deposit of an instance earns a discount on its running time:{" "}
                <code>./berth contract prepay ID DOLLARS</code>.
              </EmptyState>
            }
          />
        )}
      </Answer>
    </Section>
  );
}
