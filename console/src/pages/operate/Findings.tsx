import type { AdminReconciliationResponse, AuditFinding } from "../../../../sdk/src/index.ts";
import { count } from "../../text/size.ts";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import { words } from "./links.tsx";
import classes from "./operate.module.css";

const OUTCOMES = {
  repaired: { word: "repaired", tone: "green", icon: "check" },
  told: { word: "told", tone: "amber", icon: "clock" },
  alarmed: { word: "needs you", tone: "red", icon: "alert" },
} as const;

/** Mismatches between things that should agree, each with what to do about it. */
export function Findings({ reconciliation }: { readonly reconciliation: AdminReconciliationResponse }) {
  const { last_run_at: lastRunAt, findings } = reconciliation;
  return (
    <>
      <p className="dim" style={{ margin: "0 0 8px" }}>
        {lastRunAt === null ? (
          "It has not run yet."
        ) : (
          <>
            Last run <Ago at={lastRunAt} />.
          </>
        )}
      </p>
      {findings.length === 0 ? (
        <EmptyState title="Everything agrees">
          Containers, grants, charges and the ledger are compared again and again; what differs is shown here.
        </EmptyState>
      ) : (
        <ul className={classes["list"]}>
          {findings.map((finding) => (
            <FindingEntry key={`${finding.kind} ${finding.subject}`} finding={finding} />
          ))}
        </ul>
      )}
    </>
  );
}

function FindingEntry({ finding }: { readonly finding: AuditFinding }) {
  const details = Object.entries(finding.details).map(([name, value]) => `${words(name)}: ${JSON.stringify(value)}`);
  return (
    <li className={classes["entry"]}>
      <div>
        <p className={classes["entryTitle"]}>
          {words(finding.kind)} <HostileText text={finding.subject} />
          <StateBadge state={OUTCOMES[finding.outcome]} />
        </p>
        <p className={classes["advice"]}>{finding.advice}</p>
        {details.length > 0 && (
          <p className={classes["entryText"]}>
            <HostileText text={details.join(" · ")} />
          </p>
        )}
      </div>
      <span className="dim">
        Found {count(finding.found_count, "time")}, last <Ago at={finding.last_found_at} />
      </span>
    </li>
  );
}
