import { Button } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useDeferredValue, useState } from "react";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { count } from "../../text/size.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { parseSort, sortText, type Sort } from "../../ui/table-types.ts";
import { Filters } from "./Filters.tsx";
import { offerColumns } from "./offer-columns.tsx";
import { OfferPanel } from "./OfferPanel.tsx";
import { SavedSearches } from "./SavedSearches.tsx";
import { sortFieldOf, type OfferType } from "./fields.ts";
import { offerCountQuery, offersQuery, OFFERS_MAX, type OfferRow } from "./offers.ts";
import classes from "./market.module.css";

const route = getRouteApi("/frame/market");
/** Rows that are asked for at first; "more" asks for four times as many. */
const FIRST_ROWS = 100;
const MORE = 4;
/** Columns for which a narrower screen has no room; the panel of an offer shows them, too. */
const WIDE_ONLY: ReadonlySet<string> = new Set(["inet_down", "duration"]);
const BY_SCORE: Sort = { key: "score", isDescending: true };

export function Market() {
  const { q: typed = "", type = "ondemand", sort: sortName, offer: openId, template } = route.useSearch();
  const navigate = route.useNavigate();
  const sort = parseSort(sortName) ?? BY_SCORE;
  const q = useDeferredValue(typed);
  const [limit, setLimit] = useState(FIRST_ROWS);
  const order = { sort: sortFieldOf(sort.key), isAscending: !sort.isDescending };
  const offers = useQuery(offersQuery({ q, type, limit, ...order }));
  const matching = useQuery(offerCountQuery(q, type)).data;
  const all = useQuery(offerCountQuery("", type)).data;

  const change = (changed: { readonly q?: string | undefined; readonly type?: OfferType; readonly sort?: string }) => {
    setLimit(FIRST_ROWS);
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true });
  };
  const changeText = (text: string) => change({ q: text === "" ? undefined : text });
  const open = (offer: OfferRow | undefined) =>
    void navigate({ search: (before) => ({ ...before, offer: offer?.id }) });
  const rows = offers.data;
  const isWide = useMediaQuery("(min-width: 1400px)", true, { getInitialValueInEffect: false });
  const columns = offerColumns(type, open).filter(({ key }) => isWide || !WIDE_ONLY.has(key));
  return (
    <>
      <PageHead title="Market" actions={<SavedSearches q={typed} onChoose={changeText} />} />
      <Filters q={typed} type={type} onText={changeText} onType={(next) => change({ type: next })} />
      <div className={classes["line"]} aria-live="polite">
        <Found matching={matching} all={all} isSimulated={rows?.some((row) => row.is_simulated) === true} />
        <AsCommand
          command={["search", ...(type === "ondemand" ? [] : ["--type", type]), typed === "" ? "rentable=true" : typed]}
          request={{ method: "POST", path: "/api/v0/bundles/", body: { q: `rentable=true ${typed}`.trim(), type } }}
        />
      </div>
      {offers.error !== null && <Failure error={offers.error} onRetry={() => void offers.refetch()} />}
      {(rows !== undefined || offers.error === null) && (
        <DataTable
          label="Offers that match"
          rows={rows}
          columns={columns}
          keyOf={({ id }) => id}
          empty={<NoOffers q={typed} all={all} onClear={() => changeText("")} />}
          sort={sort}
          onSort={(next) => change({ sort: sortText(next) })}
          isSortedElsewhere
          onOpen={open}
          openKey={openId}
        />
      )}
      {rows !== undefined && rows.length >= limit && limit < OFFERS_MAX && (
        <Button variant="default" mt="md" onClick={() => setLimit(Math.min(OFFERS_MAX, limit * MORE))}>
          Show more than {count(limit, "offer")}
        </Button>
      )}
      <OfferPanel
        id={openId}
        known={rows?.find(({ id }) => id === openId)}
        type={type}
        template={template}
        onClose={() => open(undefined)}
      />
    </>
  );
}

type FoundProps = {
  readonly matching: number | undefined;
  readonly all: number | undefined;
  readonly isSimulated: boolean;
};

function Found({ matching, all, isSimulated }: FoundProps) {
  if (matching === undefined || all === undefined) return <span className="dim">Counting offers…</span>;
  return (
    <span>
      <strong>{matching.toLocaleString("en-US")}</strong> of {count(all, "offer")}
      {isSimulated && <span className="dim"> · simulated hosts: nothing runs on real machines</span>}
    </span>
  );
}

type NoOffersProps = { readonly q: string; readonly all: number | undefined; readonly onClear: () => void };

function NoOffers({ q, all, onClear }: NoOffersProps) {
  if (all === 0 || all === undefined) {
    return (
      <EmptyState title="The market has no offers now">
        An offer is a machine, or a share of one, that a host has listed and nobody rents. A host joins under{" "}
        <Link to="/host/join">Join a machine</Link>; a service that is started with <code>--simulate 50</code> has
        simulated hosts to try things with.
      </EmptyState>
    );
  }
  const button = (
    <Button variant="default" onClick={onClear}>
      Show all {count(all, "offer")}
    </Button>
  );
  return (
    <EmptyState title="No offer matches" action={button}>
      Loosen a condition, or{" "}
      <Link to="/queue" search={{ q, isNew: "true" }}>
        wait in the queue
      </Link>
      : it rents the first offer that matches, also while you are away.
    </EmptyState>
  );
}
