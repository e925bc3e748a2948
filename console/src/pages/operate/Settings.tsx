import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { adminSettings, type Setting } from "../../../../sdk/src/index.ts";
import { askPlain } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import type { Column } from "../../ui/table-types.ts";
import { Choice, Filters } from "./Filters.tsx";
import classes from "./operate.module.css";

const route = getRouteApi("/frame/operate/settings");

/** Settings of the server that answers, as they are in force. */
export function Settings() {
  const { q, source } = route.useSearch();
  const navigate = route.useNavigate();
  const settings = useQuery(askPlain("operator.settings", adminSettings));
  const change = (changed: ReturnType<typeof route.useSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true });
  return (
    <>
      <PageHead
        title="Settings in force"
        note="Of the server that answers. They are set in its environment or by options of its start, and read once then."
      />
      <Filters label="Find settings" placeholder="Name, option or meaning" q={q} onText={(text) => change({ q: text })}>
        <Choice label="Set by" words={SOURCES} value={source} onChange={(value) => change({ source: value })} />
      </Filters>
      <Answer query={settings} rows={14}>
        {(answer) => (
          <DataTable
            label="Settings"
            rows={answer.settings.filter((setting) => matches(setting, q, source))}
            columns={COLUMNS}
            keyOf={({ name }) => name}
            empty={<EmptyState title="No setting matches">Type another part of its name or meaning.</EmptyState>}
          />
        )}
      </Answer>
    </>
  );
}

const SOURCES = [
  ["environment", "The operator"],
  ["default", "Nobody: the default"],
] as const;

function matches(setting: Setting, q = "", source?: Setting["set_by"]): boolean {
  const all = `${setting.name} ${setting.option ?? ""} ${setting.meaning}`.toLowerCase();
  return all.includes(q.toLowerCase()) && (source === undefined || setting.set_by === source);
}

const COLUMNS: readonly Column<Setting>[] = [
  {
    key: "name",
    title: "Setting",
    isName: true,
    cell: ({ name, option }) => (
      <>
        <code>{name}</code>
        {option !== null && <span className="dim"> {option}</span>}
      </>
    ),
    sortBy: ({ name }) => name,
  },
  { key: "value", title: "Value", isOnCard: true, cell: (row) => <Value setting={row} /> },
  {
    key: "source",
    title: "Set by",
    isOnCard: true,
    cell: (row) => <StateBadge state={row.set_by === "environment" ? SET : DEFAULT} />,
    sortBy: (row) => row.set_by,
  },
  {
    key: "meaning",
    title: "Meaning",
    cell: ({ meaning, is_shared: isShared }) => (
      <span className={classes["long"]}>
        {meaning}
        {isShared && <span className="dim"> (the same on all servers)</span>}
      </span>
    ),
  },
];

const SET = { word: "operator", tone: "blue", icon: "dot" } as const;
const DEFAULT = { word: "default", tone: "grey", icon: "dot" } as const;

function Value({ setting: { value, is_secret: isSecret, set_by: setBy } }: { readonly setting: Setting }) {
  if (isSecret) return <span className="dim">{setBy === "environment" ? "set, never shown" : "not set"}</span>;
  if (value === null || value === "") return <span className="dim">empty</span>;
  return (
    <span className={classes["long"]}>
      <code>
        <HostileText text={value} />
      </code>
    </span>
  );
}
