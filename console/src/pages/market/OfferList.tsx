import { Button } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { memo, Suspense, useCallback, useMemo, useState } from "react";
import { lazyPart } from "../../code.ts";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { count } from "../../text/size.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { parseSort, sortText, type Sort } from "../../ui/table-types.ts";
import { sortFieldOf, type OfferType } from "./fields.ts";
import { offerColumns } from "./offer-columns.tsx";
import { COMPARED_MAX, readCompared, writeCompared } from "./compared.ts";
import { BY_SCORE, FIRST_ROWS, offerCountQuery, offersQuery, OFFERS_MAX, type OfferRow } from "./offers.ts";
import classes from "./market.module.css";

const Comparison = lazyPart(() => import("./Comparison.tsx"), "Comparison");
const OfferPanel = lazyPart(() => import("./OfferPanel.tsx"), "OfferPanel");
const route = getRouteApi("/frame/market");
/** How many times as many rows "more" asks for. */
const MORE = 4;
/** Columns for which a narrower screen has no room; the panel of an offer shows them, too. */
const WIDE_ONLY: ReadonlySet<string> = new Set(["inet_down", "duration"]);

type Props = {
  readonly q: string;
  /** The condition that is being typed, which the search leaves out. */
  readonly unread: string;
  readonly type: OfferType;
  readonly onText: (text: string) => void;
};

/** The offers of a search, how many there are, and the one that is open. A key press elsewhere draws none of it again. */
export const OfferList = memo(function OfferList({ q, unread, type, onText }: Props) {
  const sort = parseSort(route.useSearch({ select: (search) => search.sort })) ?? BY_SCORE;
  const openId = route.useSearch({ select: (search) => search.offer });
  const compared = route.useSearch({ select: (search) => search.compare }) ?? "";
  const navigate = route.useNavigate();
  const [more, setMore] = useState({ q, limit: FIRST_ROWS });
  const limit = more.q === q ? more.limit : FIRST_ROWS;
  const order = { sort: sortFieldOf(sort.key), isAscending: !sort.isDescending };
  const offers = useQuery(offersQuery({ q, type, limit, ...order }));
  const all = useQuery(offerCountQuery).data;
  const open = useCallback(
    (id: number | undefined) => void navigate({ search: (before) => ({ ...before, offer: id }) }),
    [navigate],
  );
  const chosen = useMemo(() => new Set<string | number>(readCompared(compared)), [compared]);
  const compare = (ids: Iterable<string | number>) =>
    void navigate({ search: (before) => ({ ...before, compare: writeCompared(ids) }), replace: true });
  const sortBy = (next: Sort) =>
    void navigate({ search: (before) => ({ ...before, sort: sortText(next) }), replace: true });
  const isWide = useMediaQuery("(min-width: 1400px)", true, { getInitialValueInEffect: false });
  const columns = useMemo(
    () => offerColumns(type, ({ id }) => open(id)).filter(({ key }) => isWide || !WIDE_ONLY.has(key)),
    [type, open, isWide],
  );
  const rows = offers.data?.rows;
  return (
    <>
      <div className={classes["line"]} aria-live="polite">
        <Found matching={offers.data?.matching} all={all} unread={unread} isSimulated={areSimulated(rows)} />
        <AsCommand
          command={["search", ...(type === "ondemand" ? [] : ["--type", type]), q === "" ? "rentable=true" : q]}
          request={{ method: "POST", path: "/api/v0/bundles/", body: { q: `rentable=true ${q}`.trim(), type } }}
        />
      </div>
      {offers.error !== null && <Failure error={offers.error} onRetry={() => void offers.refetch()} />}
      {(rows !== undefined || offers.error === null) && (
        <DataTable
          label="Offers that match"
          rows={rows}
          columns={columns}
          keyOf={({ id }) => id}
          empty={<NoOffers q={q} all={all} onClear={() => onText("")} />}
          sort={sort}
          onSort={sortBy}
          isSortedElsewhere
          onOpen={({ id }) => open(id)}
          openKey={openId}
          chosen={chosen}
          onChoose={compare}
          chooseMax={COMPARED_MAX}
        />
      )}
      {rows !== undefined && rows.length >= limit && limit < OFFERS_MAX && (
        <Button variant="default" mt="md" onClick={() => setMore({ q, limit: Math.min(OFFERS_MAX, limit * MORE) })}>
          Show more than {count(limit, "row")}
        </Button>
      )}
      <Beside type={type} rows={rows} compared={compared} onCompare={compare} openId={openId} onOpen={open} />
    </>
  );
});

type BesideProps = {
  readonly type: OfferType;
  readonly rows: readonly OfferRow[] | undefined;
  readonly compared: string;
  readonly onCompare: (ids: Iterable<string | number>) => void;
  readonly openId: number | undefined;
  readonly onOpen: (id: number | undefined) => void;
};

/** The comparison and the panel of an offer, whose code is loaded when they are opened. */
function Beside({ type, rows, compared, onCompare, openId, onOpen }: BesideProps) {
  const template = route.useSearch({ select: (search) => search.template });
  // The panel stays after it was open once, so that it can slide away.
  const [hasOpened, setOpened] = useState(false);
  if (openId !== undefined && !hasOpened) setOpened(true);
  const ids = readCompared(compared);
  return (
    <Suspense>
      {ids.length > 0 && <Comparison ids={ids} type={type} onOpen={onOpen} onChange={onCompare} />}
      {hasOpened && (
        <OfferPanel
          id={openId}
          known={rows?.find(({ id }) => id === openId)}
          type={type}
          template={template}
          onClose={() => onOpen(undefined)}
        />
      )}
    </Suspense>
  );
}

function areSimulated(rows: readonly OfferRow[] = []): boolean {
  return rows.some((row) => row.is_simulated);
}

type FoundProps = {
  readonly matching: number | undefined;
  readonly all: number | undefined;
  readonly unread: string;
  readonly isSimulated: boolean;
};

function Found({ matching, all, unread, isSimulated }: FoundProps) {
  if (matching === undefined || all === undefined) return <span className="dim">Counting offers…</span>;
  return (
    <span>
      <strong>{matching.toLocaleString("en-US")}</strong> of {count(all, "offer")}
      {unread !== "" && (
        <span className="dim">
          {" "}
          · <code>{unread}</code> is not a whole condition yet
        </span>
      )}
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
        simulated hosts to try things with. Or{" "}
        <Link to="/queue" search={{ q, isNew: "true" }}>
          wait in the queue
        </Link>
        : it rents the first offer that matches, also while you are away.
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
