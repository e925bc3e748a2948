import { Button, NativeSelect, TextInput } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { billingCharges, type Charge, type ChargeLine } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { LINE_COLUMNS, linesOf, LineWhy } from "../../parts/charge-line.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { money } from "../../text/money.ts";
import { count } from "../../text/size.ts";
import { utcDay } from "../../text/time.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Money } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { Panel } from "../../ui/Panel.tsx";
import type { Column } from "../../ui/table-types.ts";
import { useNow } from "../../ui/use-now.ts";
import { KIND_WORDS, KINDS, type Kind } from "./kinds.ts";
import classes from "./money.module.css";

const route = getRouteApi("/frame/money/charges");
const DAY_S = 86_400;
const DAYS_USUAL = 30;
const PAGE = 100;

/** Charges by day, and the lines behind them: filters and the place in the list are in the address. */
export function Charges() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const now = useNow();
  const from = search.from ?? utcDay(now - (DAYS_USUAL - 1) * DAY_S);
  const to = search.to ?? utcDay(now);
  const { instance, after } = search;
  const kind = KINDS.find((one) => one === search.kind);
  const isLines = instance !== undefined || search.view === "lines";
  const filters = {
    day: { gte: from, lte: to },
    ...(isLines ? (instance === undefined ? {} : { instance_id: { eq: instance } }) : {}),
    ...(isLines || kind === undefined ? {} : { type: { eq: kind } }),
  };
  const query = {
    ...{ select_filters: JSON.stringify(filters), format: isLines ? "lines" : "table", latest_first: "true" },
    ...{ limit: PAGE, ...(after === undefined ? {} : { after_token: after }) },
  };
  const charges = useQuery({ ...ask("balance.charges", billingCharges, { query }), placeholderData: keepPreviousData });
  const answer = charges.data;
  const goOn = (token: string | undefined) => void navigate({ search: (before) => ({ ...before, after: token }) });
  return (
    <>
      <PageHead
        title="Charges"
        note="Each step of running time, storage and traffic, with its price. Days are those of UTC."
        actions={
          <Button component="a" variant="default" href={exportPath(from, to)} download>
            Export as CSV
          </Button>
        }
      />
      <Filters from={from} to={to} isLines={isLines} />
      <div className={classes["line"]} aria-live="polite">
        <span>
          {answer !== undefined &&
            `${money(Number(answer.total_amount))} in ${count(answer.total, isLines ? "line" : "charge")}`}
        </span>
        <AsCommand
          command={["billing", "charges", "--from", from, "--to", to, ...(isLines ? ["--lines"] : [])]}
          request={{
            method: "GET",
            path: `/api/v0/charges/?${new URLSearchParams({ select_filters: query.select_filters, format: query.format })}`,
          }}
        />
      </div>
      {charges.error !== null && <Failure error={charges.error} onRetry={() => void charges.refetch()} />}
      {(answer !== undefined || charges.error === null) &&
        (isLines ? (
          <Lines lines={answer === undefined ? undefined : linesOf(answer)} />
        ) : (
          <ByDay rows={answer?.results.filter((row): row is Charge => !("unit_price" in row))} />
        ))}
      <div className={classes["end"]}>
        {after !== undefined && (
          <Button variant="default" mt="md" onClick={() => goOn(undefined)}>
            Newest
          </Button>
        )}
        {answer?.next_token !== undefined && answer.next_token !== null && (
          <Button variant="default" mt="md" onClick={() => goOn(answer.next_token ?? undefined)}>
            Older
          </Button>
        )}
      </div>
    </>
  );
}

type FilterProps = { readonly from: string; readonly to: string; readonly isLines: boolean };

function Filters({ from, to, isLines }: FilterProps) {
  const { kind, instance } = route.useSearch();
  const navigate = route.useNavigate();
  const change = (changed: Partial<ReturnType<typeof route.useSearch>>) =>
    void navigate({ search: (before) => ({ ...before, after: undefined, ...changed }), replace: true });
  const setDay = (name: "from" | "to", day: string) => change({ [name]: day === "" ? undefined : day });
  return (
    <div className={classes["choices"]} role="group" aria-label="Filters">
      <TextInput type="date" label="From" value={from} max={to} onChange={(e) => setDay("from", e.target.value)} />
      <TextInput type="date" label="To" value={to} min={from} onChange={(e) => setDay("to", e.target.value)} />
      <NativeSelect
        label="Show"
        value={isLines ? "lines" : "days"}
        data={[
          { value: "days", label: "By day" },
          { value: "lines", label: "Every line" },
        ]}
        onChange={({ target: { value } }) =>
          change({ view: value === "lines" ? "lines" : undefined, instance: undefined, kind: undefined })
        }
      />
      {!isLines && (
        <NativeSelect
          label="Kind"
          value={kind ?? ""}
          data={[{ value: "", label: "Everything" }, ...KINDS.map((value) => ({ value, label: KIND_WORDS[value] }))]}
          onChange={({ target: { value } }) => change({ kind: KINDS.find((one) => one === value) })}
        />
      )}
      {isLines && (
        <TextInput
          type="number"
          min={1}
          label="Instance"
          placeholder="all"
          value={instance ?? ""}
          onChange={({ target: { value } }) =>
            change({ view: "lines", instance: Number(value) > 0 ? Number(value) : undefined })
          }
        />
      )}
    </div>
  );
}

function ByDay({ rows }: { readonly rows: readonly Charge[] | undefined }) {
  const navigate = route.useNavigate();
  const columns: readonly Column<Charge>[] = [
    {
      key: "day",
      title: "Day",
      isName: true,
      cell: (row) => (
        <Link to="/money/charges" search={linesSearch(row)}>
          {utcDay(row.start)}
          <span className="visually-hidden">: lines of {row.description}</span>
        </Link>
      ),
    },
    { key: "of", title: "Of", isOnCard: true, cell: (row) => <Subject row={row} /> },
    { key: "kind", title: "Kind", cell: ({ type }) => kindWord(type) },
    {
      key: "amount",
      title: "Amount",
      isFigure: true,
      isOnCard: true,
      cell: ({ amount_exact: exact }) => <Money dollars={Number(exact)} />,
    },
  ];
  return (
    <DataTable
      label="Charges by day"
      rows={rows}
      columns={columns}
      keyOf={({ source, start }) => `${source} ${start}`}
      isSortedElsewhere
      onOpen={(row) => void navigate({ search: linesSearch(row) })}
      empty={<NoCharges />}
    />
  );
}

function Lines({ lines }: { readonly lines: readonly ChargeLine[] | undefined }) {
  const [open, setOpen] = useState<ChargeLine>();
  const columns: readonly Column<ChargeLine>[] = [
    ...LINE_COLUMNS,
    {
      key: "open",
      title: "Why",
      cell: (line) => (
        <Button
          variant="subtle"
          size="compact-xs"
          aria-label={`Why line ${line.id} was charged`}
          onClick={() => setOpen(line)}
        >
          Why
        </Button>
      ),
    },
  ];
  return (
    <>
      <DataTable
        label="Charge lines"
        rows={lines}
        columns={columns}
        keyOf={({ id }) => id}
        onOpen={setOpen}
        openKey={open?.id}
        empty={<NoCharges />}
      />
      <Panel title="Why this was charged" isOpen={open !== undefined} onClose={() => setOpen(undefined)}>
        {open !== undefined && <LineWhy line={open} />}
      </Panel>
    </>
  );
}

function NoCharges() {
  return (
    <EmptyState title="No charges in these days">
      What runs is charged at least every hour, what is stored once a day. Choose other days, or{" "}
      <Link to="/market">rent a machine</Link>.
    </EmptyState>
  );
}

function Subject({ row: { source, description, metadata } }: { readonly row: Charge }) {
  const { label } = metadata;
  const name = description.replace(/, \d{4}-\d\d-\d\d$/, "");
  return (
    <>
      <HostileText text={name || (source ?? "–")} />
      {label !== undefined && label !== "" && (
        <span className="dim">
          {" "}
          <HostileText text={label} />
        </span>
      )}
    </>
  );
}

/** The lines that a charge of a day was added up from. */
function linesSearch({ source, start }: Charge) {
  const day = utcDay(start);
  const [kind, id] = (source ?? "").split("-");
  return { from: day, to: day, view: "lines", ...(kind === "instance" ? { instance: Number(id) } : {}) } as const;
}

function kindWord(type: string): string {
  const kind: Kind | undefined = KINDS.find((one) => one === type);
  return kind === undefined ? type : KIND_WORDS[kind];
}

function exportPath(from: string, to: string): string {
  return `/api/v0/charges/export/?${new URLSearchParams({ from, to })}`;
}
