import { Button, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { auditLogFilters, auditLogPage, type AuditLogRow } from "../../../../sdk/src/index.ts";
import { ask, askPlain } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { count } from "../../text/size.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import classes from "./account.module.css";

const route = getRouteApi("/frame/account/audit-log");
const PAGE_SIZE = 50;

/** Every change of the account: when, from where, with which key. */
export function AuditLog() {
  const { action, address, person, after } = route.useSearch();
  const navigate = route.useNavigate();
  const filters = {
    ...(action === undefined ? {} : { api_route: { eq: action } }),
    ...(address === undefined ? {} : { ip_address: { eq: address } }),
    ...(person === undefined ? {} : { user_id: { eq: person } }),
  };
  const query = {
    limit: PAGE_SIZE,
    ...(after === undefined ? {} : { after_token: after }),
    ...(Object.keys(filters).length === 0 ? {} : { select_filters: JSON.stringify(filters) }),
  };
  const page = useQuery(ask("audit.page", auditLogPage, { query }));
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <PageHead
        title="Audit log"
        note="Every request that changed something, with its time and origin."
        actions={<AsCommand request={{ method: "GET", path: `/api/v1/audit_logs/?limit=${PAGE_SIZE}` }} />}
      />
      <Filters />
      <Answer query={page} rows={12}>
        {({ audit_logs: rows, total_logs: total, next_token: next }) => (
          <>
            <EntryTable rows={rows} isFiltered={isFiltered} />
            <div className={classes["buttons"]} style={{ marginTop: 16 }}>
              <span className="dim">{count(total, "entry", "entries")} in all</span>
              {after !== undefined && (
                <Button
                  variant="default"
                  onClick={() => void navigate({ search: (last) => ({ ...last, after: undefined }) })}
                >
                  Newest
                </Button>
              )}
              {next !== null && (
                <Button
                  variant="default"
                  onClick={() => void navigate({ search: (last) => ({ ...last, after: next }) })}
                >
                  Older
                </Button>
              )}
            </div>
          </>
        )}
      </Answer>
    </>
  );
}

function Filters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const known = useQuery(askPlain("audit.filters", auditLogFilters)).data;
  const change = (part: Partial<typeof search>) =>
    void navigate({ search: { ...search, ...part, after: undefined }, replace: true });
  const people = Object.entries(known?.users ?? {}).map(([value, { name, email }]) => ({
    value,
    label: name || email,
  }));
  return (
    <div className={classes["buttons"]} style={{ marginBottom: 16 }}>
      <Select
        label="Action"
        placeholder="all"
        clearable
        searchable
        data={[...(known?.api_routes ?? [])]}
        value={search.action ?? null}
        onChange={(action) => change({ action: action ?? undefined })}
      />
      <Select
        label="Address"
        placeholder="all"
        clearable
        data={[...(known?.ip_addresses ?? [])]}
        value={search.address ?? null}
        onChange={(address) => change({ address: address ?? undefined })}
      />
      {people.length > 1 && (
        <Select
          label="Person"
          placeholder="all"
          clearable
          data={people}
          value={search.person === undefined ? null : String(search.person)}
          onChange={(person) => change({ person: person === null ? undefined : Number(person) })}
        />
      )}
    </div>
  );
}

function EntryTable({ rows, isFiltered }: { readonly rows: readonly AuditLogRow[]; readonly isFiltered: boolean }) {
  return (
    <DataTable
      label="Audit log"
      rows={rows}
      keyOf={({ id }) => id ?? 0}
      isSortedElsewhere
      empty={
        <EmptyState title="No entries">
          {isFiltered ? "Nothing fits these filters. Clear one of them." : "Each change of the account is noted here."}
        </EmptyState>
      }
      columns={[
        {
          key: "action",
          title: "Action",
          isName: true,
          cell: ({ api_route: action = "" }) => <code className={classes["break"]}>{action}</code>,
        },
        {
          key: "time",
          title: "Time",
          isOnCard: true,
          cell: ({ created_at: at }) => (at === undefined ? "–" : <Ago at={at} />),
        },
        {
          key: "person",
          title: "Person",
          isOnCard: true,
          cell: ({ name, email }) => <HostileText text={name || (email ?? "")} />,
        },
        { key: "address", title: "From", isOnCard: true, cell: ({ ip_address: address }) => <code>{address}</code> },
        {
          key: "key",
          title: "With",
          cell: ({ key, key_type: type, key_status: status }) =>
            type === undefined || type === "" ? (
              <span className="dim">no key</span>
            ) : (
              <>
                {type} key <code>{key}</code>
                {status === "deleted" && <span className="dim"> · deleted since</span>}
              </>
            ),
        },
        { key: "args", title: "About", cell: ({ args }) => <Arguments args={args ?? {}} /> },
      ]}
    />
  );
}

const SHOWN_LENGTH = 60;

function Arguments({ args }: { readonly args: Readonly<Record<string, unknown>> }) {
  const text = Object.entries(args)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
  const short = text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
  return (
    <span className={classes["break"]} title={text}>
      <HostileText text={short} />
    </span>
  );
}
