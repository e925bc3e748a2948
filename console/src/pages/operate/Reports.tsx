import { Checkbox } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { adminFlagList, adminReconciliation, type HostFlag } from "../../../../sdk/src/index.ts";
import { ask, askPlain } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { count } from "../../text/size.ts";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { PageHead, Section } from "../../ui/PageHead.tsx";
import { Audit } from "./Audit.tsx";
import { ClearFlag } from "./ClearFlag.tsx";
import { Findings } from "./Findings.tsx";
import { AccountLink, MachineLink, words } from "./links.tsx";
import classes from "./operate.module.css";

const route = getRouteApi("/frame/operate/reports");

/** Flags of hosts, what reconciliation found, and the last audit of the books. */
export function Reports() {
  const { cleared } = route.useSearch();
  const navigate = route.useNavigate();
  const query = cleared === "true" ? {} : ({ open: "true" } as const);
  const flags = useQuery(ask("operator.flags", adminFlagList, { query }));
  const reconciliation = useQuery(askPlain("operator.reconciliation", adminReconciliation));
  return (
    <>
      <PageHead title="Reports and flags" note="Contradictions that the server has found" />
      <Section
        title="Flags of hosts"
        actions={
          <Checkbox
            size="xs"
            label="Show cleared flags"
            checked={cleared === "true"}
            onChange={({ currentTarget: { checked } }) =>
              void navigate({ search: { cleared: checked ? "true" : undefined }, replace: true })
            }
          />
        }
      >
        <Answer query={flags}>{(answer) => <Flags flags={answer.flags} />}</Answer>
      </Section>
      <Section title="Reconciliation">
        <Answer query={reconciliation}>{(answer) => <Findings reconciliation={answer} />}</Answer>
      </Section>
      <Audit />
    </>
  );
}

function Flags({ flags }: { readonly flags: readonly HostFlag[] }) {
  if (flags.length === 0) {
    return (
      <EmptyState title="No flags">
        A host is flagged when what it says contradicts what the server has measured or counted.
      </EmptyState>
    );
  }
  return (
    <ul className={classes["list"]}>
      {flags.map((flag) => (
        <li key={flag.id} className={classes["entry"]}>
          <div>
            <p className={classes["entryTitle"]}>
              {words(flag.kind)}
              <AccountLink id={flag.host_id} />
              {flag.machine_id !== null && <MachineLink id={flag.machine_id} />}
            </p>
            <p className={classes["entryText"]}>
              <HostileText text={flag.msg} />
            </p>
            <p className={classes["entryText"]}>
              Seen {count(flag.seen_count, "time")}, first <Ago at={flag.since} />, last <Ago at={flag.last_at} />
            </p>
            {flag.cleared_at !== null && (
              <p className={classes["entryText"]}>
                Cleared <Ago at={flag.cleared_at} />: <HostileText text={flag.clear_reason ?? ""} />
              </p>
            )}
          </div>
          {flag.cleared_at === null && <ClearFlag id={flag.id} />}
        </li>
      ))}
    </ul>
  );
}
