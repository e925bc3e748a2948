import { useQuery } from "@tanstack/react-query";
import { adminLoops, type BackgroundLoop } from "../../../../sdk/src/index.ts";
import { askPlain } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { count } from "../../text/size.ts";
import { duration } from "../../text/time.ts";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead } from "../../ui/PageHead.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import type { Column } from "../../ui/table-types.ts";
import { words } from "./links.tsx";
import classes from "./operate.module.css";

const POLL_MS = 15_000;

/** Background loops of the server that answers: late ones first, then those whose last run failed. */
export function Loops() {
  const loops = useQuery({ ...askPlain("operator.loops", adminLoops), refetchInterval: POLL_MS });
  const late = loops.data?.loops.filter((loop) => loop.is_late).length ?? 0;
  return (
    <>
      <PageHead
        title="Background loops"
        note={
          loops.data && `${count(loops.data.loops.length, "loop")} of this server, ${late === 0 ? "none" : late} late`
        }
      />
      <Answer query={loops} rows={14}>
        {(answer) => (
          <DataTable
            label="Background loops"
            rows={answer.loops}
            columns={COLUMNS}
            keyOf={({ name }) => name}
            startSort={{ key: "state", isDescending: false }}
            empty={<EmptyState title="No loops">This server was started without background work.</EmptyState>}
          />
        )}
      </Answer>
    </>
  );
}

const COLUMNS: readonly Column<BackgroundLoop>[] = [
  {
    key: "name",
    title: "Loop",
    isName: true,
    cell: ({ name, description }) => (
      <span className={classes["long"]}>
        <code>{name}</code>
        <br />
        <span className="dim" style={{ fontWeight: 400 }}>
          {description}
        </span>
      </span>
    ),
    sortBy: ({ name }) => name,
  },
  { key: "state", title: "State", isOnCard: true, cell: (row) => <LoopState loop={row} />, sortBy: rankOf },
  {
    key: "last",
    title: "Last run",
    isOnCard: true,
    cell: (row) => <LastRun loop={row} />,
    sortBy: (row) => startedAt(row) ?? null,
  },
  {
    key: "every",
    title: "Every",
    isFigure: true,
    cell: (row) => duration(row.every_ms / 1000),
    sortBy: (row) => row.every_ms,
  },
  { key: "runs", title: "Runs", isFigure: true, cell: (row) => row.run_count, sortBy: (row) => row.run_count },
  {
    key: "failures",
    title: "Failures",
    isFigure: true,
    isOnCard: true,
    cell: (row) => row.failure_count,
    sortBy: (row) => row.failure_count,
  },
  { key: "did", title: "Last run did", cell: (row) => <Did loop={row} /> },
];

function rankOf({ is_late: isLate, last_error: error, name }: BackgroundLoop): string {
  return `${isLate ? 0 : error === null ? 2 : 1} ${name}`;
}

function LoopState({
  loop: { is_late: isLate, last_error: error, run_count: runs },
}: {
  readonly loop: BackgroundLoop;
}) {
  if (isLate) return <StateBadge state={{ word: "late", tone: "red", icon: "clock" }} />;
  if (error !== null) return <StateBadge state={{ word: "failed", tone: "red", icon: "alert" }} />;
  if (runs === 0) return <StateBadge state={{ word: "not run yet", tone: "grey", icon: "dot" }} />;
  return <StateBadge state={{ word: "on time", tone: "green", icon: "check" }} />;
}

function LastRun({ loop }: { readonly loop: BackgroundLoop }) {
  const at = startedAt(loop);
  return at === undefined ? <span className="dim">never</span> : <Ago at={at} />;
}

function startedAt({ last_started_at: at }: BackgroundLoop): number | undefined {
  return at === null ? undefined : Date.parse(at) / 1000;
}

function Did({ loop: { last_status: status, last_error: error } }: { readonly loop: BackgroundLoop }) {
  if (error !== null) {
    return (
      <span className={classes["long"]}>
        <HostileText text={error} />
      </span>
    );
  }
  const parts = Object.entries(status ?? {}).map(([name, value]) => `${words(name)} ${value}`);
  return <span className={classes["long"]}>{parts.length === 0 ? "–" : parts.join(", ")}</span>;
}
