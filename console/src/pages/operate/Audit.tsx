import { useQuery } from "@tanstack/react-query";
import { adminAudit, type AuditCheck } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { DataTable } from "../../ui/DataTable.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Section } from "../../ui/PageHead.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import type { Column } from "../../ui/table-types.ts";
import classes from "./operate.module.css";

/** The audit of the books, which computes them again from the facts when somebody asks for it. */
export function Audit() {
  const audit = useQuery({
    ...ask("operator.audit", adminAudit, {}),
    enabled: false,
    gcTime: Number.POSITIVE_INFINITY,
  });
  return (
    <Section
      title="Audit"
      actions={
        <>
          <AsCommand command={["audit"]} request={{ method: "GET", path: "/api/v0/admin/audit/" }} />
          <ActionButton onClick={() => void audit.refetch()} isBusy={audit.isFetching}>
            Audit the books
          </ActionButton>
        </>
      }
    >
      {audit.data === undefined && audit.error === null ? (
        <p className="dim" style={{ margin: 0 }}>
          An audit computes the books again from the facts since the last seal, and shows what differs.
        </p>
      ) : (
        <Answer query={audit}>
          {({ is_sound: isSound, state, audited_at: auditedAt, checks }) => (
            <>
              <p style={{ margin: "0 0 8px" }}>
                <Verdict isSound={isSound} isRunning={state === "running"} />{" "}
                {auditedAt !== null && <Ago at={auditedAt} />}
              </p>
              <DataTable
                label="Checks of the audit"
                rows={checks}
                columns={COLUMNS}
                keyOf={({ name }) => name}
                empty={<EmptyState title="No checks yet">The audit is still under way.</EmptyState>}
              />
            </>
          )}
        </Answer>
      )}
    </Section>
  );
}

function Verdict({ isSound, isRunning }: { readonly isSound: boolean | null; readonly isRunning: boolean }) {
  if (isRunning) return <StateBadge state={{ word: "under way", tone: "blue", icon: "bar" }} />;
  if (isSound === true) return <StateBadge state={{ word: "sound", tone: "green", icon: "check" }} />;
  return <StateBadge state={{ word: "something differs", tone: "red", icon: "alert" }} />;
}

const COLUMNS: readonly Column<AuditCheck>[] = [
  {
    key: "title",
    title: "Check",
    isName: true,
    cell: ({ title, differences }) => (
      <span className={classes["long"]}>
        {title}
        {differences.map(({ subject, problem, stored, expected }) => (
          <span key={`${subject} ${problem}`} className={classes["entryText"]} style={{ display: "block" }}>
            <HostileText text={`${subject}: ${problem} (stored ${stored}, expected ${expected})`} />
          </span>
        ))}
      </span>
    ),
  },
  { key: "examined", title: "Examined", isFigure: true, isOnCard: true, cell: (row) => row.examined_count },
  { key: "differences", title: "Differences", isFigure: true, isOnCard: true, cell: (row) => row.difference_count },
];
