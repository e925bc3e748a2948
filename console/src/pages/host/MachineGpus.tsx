import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import { machineCalendar, type CalendarGpu, type Machine, type MachineCalendar } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { utcDay } from "../../text/time.ts";
import { Moment } from "../../ui/figures.tsx";
import { EmptyState } from "../../ui/EmptyState.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { StateBadge } from "../../ui/StateBadge.tsx";
import classes from "./host.module.css";
import { DAY_S } from "./machine.ts";

/** The strip goes on this far beyond now, to show until when rentals are agreed. */
const AHEAD_S = 30 * DAY_S;
const KINDS = { on_demand: "on demand", interruptible: "interruptible", reserved: "reserved" } as const;

/** The GPUs of a machine with their health, and who occupied them when, without names. */
export function MachineGpus({ machine }: { readonly machine: Machine }) {
  const calendar = useQuery(ask("machine.calendar", machineCalendar, { id: machine.id }));
  return (
    <Answer query={calendar} rows={6}>
      {(answer) =>
        answer.gpus.length === 0 ? (
          <EmptyState title="No GPUs">This machine rents out its cores.</EmptyState>
        ) : (
          <>
            <Tiles machine={machine} calendar={answer} />
            <Strips calendar={answer} />
          </>
        )
      }
    </Answer>
  );
}

function Tiles({ machine, calendar }: { readonly machine: Machine; readonly calendar: MachineCalendar }) {
  const problems = machine.gpu_problems;
  return (
    <>
      <ul className={classes["tiles"]} aria-label="GPUs">
        {calendar.gpus.map((gpu) => {
          const evidence = problems.filter((problem) => isAbout(problem, gpu));
          const isSick = evidence.length > 0 || !gpu.is_present;
          return (
            <li key={gpu.position} className={classes["tile"]} data-sick={isSick || undefined}>
              <div className={classes["tileHead"]}>
                <b>GPU {gpu.position}</b>
                <Health isPresent={gpu.is_present} isSick={isSick} isRented={current(gpu) !== undefined} />
              </div>
              <HostileText text={gpu.gpu_name} />
              {evidence.map((problem) => (
                <span key={problem}>
                  <HostileText text={problem} />
                </span>
              ))}
            </li>
          );
        })}
      </ul>
      {problems
        .filter((problem) => !calendar.gpus.some((gpu) => isAbout(problem, gpu)))
        .map((problem) => (
          <p key={problem}>
            <HostileText text={problem} />
          </p>
        ))}
    </>
  );
}

function Health(props: { readonly isPresent: boolean; readonly isSick: boolean; readonly isRented: boolean }) {
  if (!props.isPresent) return <StateBadge state={{ word: "gone", tone: "red", icon: "off" }} />;
  if (props.isSick) return <StateBadge state={{ word: "sick", tone: "red", icon: "alert" }} />;
  return props.isRented ? (
    <StateBadge state={{ word: "rented", tone: "green", icon: "dot" }} />
  ) : (
    <StateBadge state={{ word: "free", tone: "grey", icon: "dot" }} />
  );
}

/** True when a problem is about this GPU: its text begins with the position. */
function isAbout(problem: string, { position }: CalendarGpu): boolean {
  return problem.startsWith(`GPU ${position}: `);
}

function current({ intervals }: CalendarGpu) {
  return intervals.find(({ until }) => until === null);
}

function Strips({ calendar }: { readonly calendar: MachineCalendar }) {
  const { from, now, gpus, maintenances, is_cut: isCut } = calendar;
  const end = now + AHEAD_S;
  const place = (start: number, until: number) => {
    const left = Math.max(0, start - from) / (end - from);
    const right = Math.min(1, Math.max(0, until - from) / (end - from));
    return { left: `${100 * left}%`, width: `${100 * Math.max(0, right - left)}%` };
  };
  return (
    <>
      <h3 className={classes["subtitle"]}>
        Rentals from {utcDay(from)} to {utcDay(end)}
      </h3>
      <div className={classes["strips"]}>
        {gpus.map((gpu) => (
          <div key={gpu.position} className={classes["strip"]}>
            <span>GPU {gpu.position}</span>
            <div className={classes["band"]} role="img" aria-label={`GPU ${gpu.position}: ${sentenceOf(gpu)}`}>
              {gpu.intervals.map(({ from: start, until, kind, ends_at: agreed }) => (
                <Fragment key={`${start} ${kind}`}>
                  <span data-kind={kind} style={place(start, until ?? now)} />
                  {until === null && <span data-kind={kind} data-agreed style={place(now, agreed ?? now)} />}
                </Fragment>
              ))}
              {maintenances.map(({ from: start, until }) => (
                <span key={start} data-kind="maintenance" style={place(start, until)} />
              ))}
              <span data-kind="now" style={{ left: place(now, now).left }} />
            </div>
            <span className="dim">{sentenceOf(gpu)}</span>
          </div>
        ))}
      </div>
      <Legend />
      {isCut && <p className="dim">There were more rentals than are shown here.</p>}
      <RentalTable gpus={gpus} />
    </>
  );
}

function Legend() {
  return (
    <div className={classes["legend"]} aria-hidden="true">
      {[...Object.entries(KINDS), ["maintenance", "maintenance"] as const].map(([kind, word]) => (
        <span key={kind}>
          <span className={classes["band"]}>
            <span data-kind={kind} />
          </span>
          {word}
        </span>
      ))}
      <span>paler: agreed</span>
    </div>
  );
}

function RentalTable({ gpus }: { readonly gpus: readonly CalendarGpu[] }) {
  const rentals = gpus.flatMap(({ position, intervals }) => intervals.map((interval) => ({ position, ...interval })));
  if (rentals.length === 0) return null;
  return (
    <details>
      <summary>Rentals as a table</summary>
      <div className={classes["scroll"]} tabIndex={0} role="region" aria-label="Rentals as a table">
        <table className={classes["table"]}>
          <thead>
            <tr>
              <th scope="col">GPU</th>
              <th scope="col">Kind</th>
              <th scope="col">From</th>
              <th scope="col">Until</th>
            </tr>
          </thead>
          <tbody>
            {rentals.map(({ position, kind, from, until, ends_at: agreed }) => (
              <tr key={`${position} ${from} ${kind}`}>
                <th scope="row">{position}</th>
                <td>{KINDS[kind]}</td>
                <td>
                  <Moment at={from} />
                </td>
                <td>{until === null ? untilText(agreed) : <Moment at={until} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function sentenceOf(gpu: CalendarGpu): string {
  const now = current(gpu);
  if (now !== undefined) return `Rented ${KINDS[now.kind]}, ${untilText(now.ends_at)}`;
  return gpu.intervals.length === 0 ? "Not rented in this time" : "Free now";
}

function untilText(agreed: number | null): string {
  return agreed === null ? "no end agreed" : `until ${utcDay(agreed)}`;
}
