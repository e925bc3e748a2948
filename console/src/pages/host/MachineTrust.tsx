import { useQuery } from "@tanstack/react-query";
import {
  machineReliability,
  machineReports,
  machineVerification,
  type ReliabilityDay,
  type VerificationCheck,
} from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { share } from "../../text/size.ts";
import { duration, utcDay } from "../../text/time.ts";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { Ago } from "../../ui/figures.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import classes from "./host.module.css";
import { DAY_S } from "./machine.ts";

const DECIDED = { rule: "by the rules", administrator: "by an administrator", operator: "by the operator" } as const;

export function verificationQuery(id: string) {
  return ask("machine.verification", machineVerification, { id });
}

/** The checks of a machine with what is missing, and when it is tried again. */
export function MachineVerificationChecks({ id }: { readonly id: string }) {
  const verification = useQuery(verificationQuery(id));
  return (
    <Answer query={verification} rows={6}>
      {(answer) => (
        <>
          <StateBadge state={answer.verification} /> <span className="dim">decided {DECIDED[answer.decided_by]}</span>
          <p>
            <HostileText text={answer.msg} />
          </p>
          {answer.rests_until !== null && (
            <p>
              At rest: it is tried again <Ago at={answer.rests_until} />.{" "}
              {answer.rest_reason !== null && <HostileText text={answer.rest_reason} />}
            </p>
          )}
          <Checks checks={answer.checks} />
        </>
      )}
    </Answer>
  );
}

export function Checks({ checks }: { readonly checks: readonly VerificationCheck[] }) {
  return (
    <ul className={classes["checks"]}>
      {checks.map(({ name, passed, msg }) => (
        <li key={name}>
          <StateBadge
            state={
              passed
                ? { word: "passed", tone: "green", icon: "check" }
                : { word: "missing", tone: "amber", icon: "alert" }
            }
          />
          <p>
            <b>{name.replaceAll("_", " ")}</b>: <HostileText text={msg} />
          </p>
        </li>
      ))}
    </ul>
  );
}

/** How reliable a machine is, and the days that this is computed from. */
export function MachineReliabilityFacts({ id }: { readonly id: string }) {
  const reliability = useQuery(ask("machine.reliability", machineReliability, { id }));
  return (
    <Answer query={reliability} rows={5}>
      {({ reliability: exact, shown_reliability: shown, window_days: window, terms, days }) => (
        <>
          <dl className={classes["facts"]}>
            <dt>Shown to renters</dt>
            <dd>{share(shown)}</dd>
            <dt>Exactly</dt>
            <dd>{share(exact)}</dd>
            <dt>Online</dt>
            <dd>
              {hours(terms.online_ms)} of {window} days
            </dd>
            <dt>Offline</dt>
            <dd>
              {hours(terms.offline_ms)}, and {hours(terms.offline_rented_extra_ms)} more for the time with renters
            </dd>
            <dt>Failed starts</dt>
            <dd>count as {hours(terms.failed_starts_ms)} offline</dd>
          </dl>
          <BadDays days={days} />
        </>
      )}
    </Answer>
  );
}

function BadDays({ days }: { readonly days: readonly ReliabilityDay[] }) {
  const bad = days.filter(({ offline_ms: offline, starts_failed: failed }) => offline > 0 || failed > 0);
  if (bad.length === 0) return <p className="dim">It was never away, and no start failed.</p>;
  return (
    <details>
      <summary>Days on which it was away, or a start failed</summary>
      <div className={classes["scroll"]} tabIndex={0} role="region" aria-label="Days that count against it">
        <table className={classes["table"]}>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col">Offline</th>
              <th scope="col">With renters</th>
              <th scope="col">Failed starts</th>
            </tr>
          </thead>
          <tbody>
            {bad.map((day) => (
              <tr key={day.day}>
                <th scope="row">{utcDay(day.day * DAY_S)}</th>
                <td>{hours(day.offline_ms)}</td>
                <td>{hours(day.offline_rented_ms)}</td>
                <td>{day.starts_failed}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** Reports of renters; the server does not say whose they are. */
export function MachineReportList({ id }: { readonly id: number }) {
  const reports = useQuery(ask("machine.reports", machineReports, { id }));
  return (
    <Answer query={reports} rows={3}>
      {(answer) =>
        answer.length === 0 ? (
          <EmptyState title="No reports">Problems that renters report stand here, without their names.</EmptyState>
        ) : (
          <ul className={classes["checks"]}>
            {answer.map(({ problem, message, created_at: at }) => (
              <li key={`${at} ${problem}`}>
                <Ago at={at} />
                <p>
                  <b>
                    <HostileText text={problem} />
                  </b>
                  : <HostileText text={message} />
                </p>
              </li>
            ))}
          </ul>
        )
      }
    </Answer>
  );
}

function hours(milliseconds: number): string {
  return duration(milliseconds / 1000);
}
