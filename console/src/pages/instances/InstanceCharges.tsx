import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { billingCharges, type ChargeLine } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { INSTANCE_LINE_COLUMNS, linesOf, LineWhy } from "../../parts/charge-line.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { money } from "../../text/money.ts";
import { count } from "../../text/size.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Section } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
import { useNow } from "../../ui/use-now.ts";

const route = getRouteApi("/frame/instances/$id");
const LINES_MAX = 200;
/** The longest span that the server answers. */
const DAYS = 3_659;
const DAY_S = 86_400;

/** Each charge line of an instance with its counter, price and terms, and the server's sum of all of them. */
export function InstanceCharges() {
  const { id } = route.useParams();
  const [open, setOpen] = useState<ChargeLine>();
  const today = Math.floor(useNow() / DAY_S) * DAY_S;
  const filters = { instance_id: { eq: Number(id) }, day: { gte: today - DAYS * DAY_S, lte: today } };
  const query = { select_filters: JSON.stringify(filters), format: "lines", latest_first: "true", limit: LINES_MAX };
  const charges = useQuery(ask("balance.charges", billingCharges, { query }));
  const lines = charges.data === undefined ? undefined : linesOf(charges.data);
  return (
    <Section title="Charges">
      {charges.error !== null && <Failure error={charges.error} onRetry={() => void charges.refetch()} />}
      {charges.data !== undefined && charges.data.total > 0 && (
        <p className="dim">
          {money(Number(charges.data.total_amount))} in {count(charges.data.total, "line")}
          {charges.data.total > LINES_MAX && `, of which the newest ${LINES_MAX} are below`}.
        </p>
      )}
      {(lines !== undefined || charges.error === null) && (
        <DataTable
          label="Charges"
          rows={lines}
          columns={INSTANCE_LINE_COLUMNS}
          keyOf={({ id: line }) => line}
          onOpen={setOpen}
          openKey={open?.id}
          empty={
            <EmptyState title="Nothing was charged yet">
              Running time is charged within the hour, and when the instance stops.
            </EmptyState>
          }
        />
      )}
      <Panel title="Why this was charged" isOpen={open !== undefined} onClose={() => setOpen(undefined)}>
        {open !== undefined && <LineWhy line={open} />}
      </Panel>
    </Section>
  );
}
