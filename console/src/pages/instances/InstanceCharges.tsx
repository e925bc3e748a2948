import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { billingCharges, type ChargeLine } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { Failure } from "../../parts/Failure.tsx";
import { duration, utcTime } from "../../text/time.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago, Money } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import type { Column } from "../../ui/table-types.ts";
import { useNow } from "../../ui/use-now.ts";
import { instanceQuery } from "./instance.ts";

const route = getRouteApi("/frame/instances/$id");
/** Lines of the account that are asked for; those of other instances are left out. */
const LINES_MAX = 500;
const DAY_S = 86_400;
/** The longest time that the server looks through at once, in days. */
const DAYS_MAX = 3_600;

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

/** Each charge line of an instance with its counter, price and terms. */
export function InstanceCharges() {
  const { id } = route.useParams();
  const instance = useQuery(instanceQuery(id)).data;
  const today = Math.floor(useNow() / DAY_S) * DAY_S;
  const start = Math.max(instance?.start_date ?? today, today - DAYS_MAX * DAY_S);
  const filters = JSON.stringify({ day: { gte: Math.floor(start), lte: today + DAY_S } });
  const query = { select_filters: filters, format: "lines", latest_first: "true", limit: LINES_MAX };
  const charges = useQuery({ ...ask("balance.lines", billingCharges, { query }), enabled: instance !== undefined });
  const own = (charge: object): charge is ChargeLine => isLine(charge) && charge.instance_id === Number(id);
  const lines = charges.data?.results.filter(own);
  const isCut = (charges.data?.total ?? 0) > LINES_MAX;
  return (
    <Section title="Charges">
      {charges.error !== null && <Failure error={charges.error} onRetry={() => void charges.refetch()} />}
      {isCut && (
        <p className="dim">
          Lines among the newest {LINES_MAX} of the account; all of them are under{" "}
          <Link to="/money/charges">Charges</Link>.
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
