import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { billingCharges, type ChargeLine } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { Failure } from "../../parts/Failure.tsx";
import { money } from "../../text/money.ts";
import { duration, utcTime } from "../../text/time.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago, Money } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import type { Column } from "../../ui/table-types.ts";

const route = getRouteApi("/frame/instances/$id");
const LINES_MAX = 200;

const COLUMNS: readonly Column<ChargeLine>[] = [
  {
    key: "at",
    title: "Charged",
    isName: true,
    sortBy: ({ charged_at: at }) => at,
    cell: ({ charged_at: at }) => <Ago at={at} />,
  },
  {
    key: "for",
    title: "For",
    isOnCard: true,
    sortBy: ({ description }) => description,
    cell: ({ description }) => <HostileText text={description} />,
  },
  { key: "why", title: "Why", cell: (line) => <HostileText text={whyOf(line)} /> },
  {
    key: "span",
    title: "Time",
    isFigure: true,
    sortBy: ({ start, end }) => end - start,
    cell: ({ start, end }) => <span title={`${utcTime(start)} to ${utcTime(end)}`}>{duration(end - start)}</span>,
  },
  {
    key: "amount",
    title: "Amount",
    isFigure: true,
    isOnCard: true,
    sortBy: ({ amount }) => amount,
    cell: ({ amount }) => <Money dollars={amount} />,
  },
];

/** Each charge line of an instance with its counter, price and terms, and the sum of what is shown. */
export function InstanceCharges() {
  const { id } = route.useParams();
  const filters = JSON.stringify({ instance_id: { eq: Number(id) } });
  const query = { select_filters: filters, format: "lines", latest_first: "true", limit: LINES_MAX };
  const charges = useQuery(ask("balance.charges", billingCharges, { query }));
  const lines = charges.data?.results.filter(isLine);
  const sum = lines?.reduce((total, { amount }) => total + amount, 0) ?? 0;
  return (
    <Section title="Charges">
      {charges.error !== null && <Failure error={charges.error} onRetry={() => void charges.refetch()} />}
      {lines !== undefined && lines.length > 0 && (
        <p className="dim">
          {money(sum)} in the {lines.length === LINES_MAX ? `newest ${LINES_MAX}` : lines.length} lines below.
        </p>
      )}
      {(lines !== undefined || charges.error === null) && (
        <DataTable
          label="Charges"
          rows={lines}
          columns={COLUMNS}
          keyOf={({ id: line, charged_at: at }) => `${line} ${at}`}
          empty={
            <EmptyState title="Nothing was charged yet">
              Running time is charged within the hour, and when the instance stops.
            </EmptyState>
          }
        />
      )}
    </Section>
  );
}

function isLine(charge: object): charge is ChargeLine {
  return "unit_price" in charge;
}

/** `0.52 × $0.40, running`: the counter, the price of one, and the state that it was counted in. */
function whyOf({ quantity, unit_price: price, state, cause, discount, size_gb: gb }: ChargeLine): string {
  const size = gb === null ? "" : ` for ${gb} GB`;
  const less = discount > 0 ? `, ${Math.round(discount * 100)} % discount` : "";
  return `${quantity.toPrecision(4)} × $${price}${size}${less}; ${state}, ${cause}`;
}
