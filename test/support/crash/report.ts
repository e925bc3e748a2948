// The report of a run of kills, for people.
import type { CrashReport, KillNews } from "./run.ts";
import { TOLERANCE_MS, type Rule, type RunVerdict } from "./runs.ts";
import { KILLS } from "./world.ts";

const [NAME_WIDTH, NUMBER_WIDTH] = [34, 14];
const [WHAT_WIDTH, BACK_WIDTH] = [52, 18];
const KILL_TEXT = {
  server: "server",
  postmaster: "PostgreSQL, all of it",
  backend: "PostgreSQL, one of its processes",
  agents: "agents of two hosts",
  "server and agents": "server and agents at once",
  power: "power of two hosts",
  absence: "server, away longer than a lease",
  primary: "primary PostgreSQL",
  "primary machine": "machine of the primary PostgreSQL",
  "standby machine": "machine of the standby",
} as const;
const RULE_TEXT = {
  clocks: "seen to their end",
  power: "ended with the power",
  absence: "unseen for longer than a lease",
  release: "going on after their end was asked for",
  delay: "heard of late",
} as const satisfies Record<Rule, string>;
const RULE_NOTE: Readonly<Record<Rule, string>> = {
  clocks: `each to within ${TOLERANCE_MS} ms: two clocks, read one after the other`,
  power: "what came after the last report is not charged",
  absence: "from the last report before it on nothing is charged",
  release: "after the time of a certain stop nothing is charged",
  delay: "counted from the first report on",
};

/** One line for each kill, as it comes. */
export function killLine(
  { round, sinceBeginMs, what, backAfterMs, acknowledgedCount }: KillNews,
  kills: number,
): string {
  const number = `${round}/${kills}`.padStart(2 * String(kills).length + 1);
  const back = `back after ${(backAfterMs / 1000).toFixed(1)} s`;
  return `${number}  ${clock(sinceBeginMs)}  ${what.padEnd(WHAT_WIDTH)}  ${back.padEnd(BACK_WIDTH)}  ${acknowledgedCount} requests answered before`;
}

/** The closing table. */
export function crashTable(report: CrashReport): string {
  const { kills, verdicts } = report;
  const rules = Map.groupBy(verdicts, ({ rule }) => rule);
  return [
    "",
    `Killed in ${clock(report.tookMs)}, with ${grouped(report.acknowledgedCount)} requests acknowledged`,
    ...KILLS.map((kill) => row(KILL_TEXT[kill], grouped(kills.filter((one) => one === kill).length))),
    row("together", grouped(kills.length)),
    "",
    "Runs of instances: how long by their engines, and how much of it was charged",
    row("", "runs", "ran", "charged", "difference"),
    ...(["clocks", "power", "absence"] as const).map((rule) =>
      timeRow(RULE_TEXT[rule], rules.get(rule) ?? [], RULE_NOTE[rule]),
    ),
    timeRow("together", verdicts, ""),
    row("of all, excused if missing", seconds(sum(verdicts, (one) => one.excusedMs))),
    row("of one run, at most too much", seconds(Math.max(0, ...verdicts.map((one) => one.chargedMs - one.ranMs)))),
    "",
    "Books",
    row("charge lines", grouped(report.lineCount)),
    row("transfers", grouped(report.transferCount)),
    row("sum of all accounts", report.sumNanos),
    `  audit: ${report.auditWord}`,
    "",
  ].join("\n");
}

function timeRow(name: string, verdicts: readonly RunVerdict[], note: string): string {
  const [ranMs, chargedMs] = [sum(verdicts, (one) => one.ranMs), sum(verdicts, (one) => one.chargedMs)];
  return `${row(name, grouped(verdicts.length), seconds(ranMs), seconds(chargedMs), seconds(chargedMs - ranMs))}  ${note}`.trimEnd();
}

function row(name: string, ...numbers: readonly string[]): string {
  return `  ${name.padEnd(NAME_WIDTH)}${numbers.map((number) => number.padStart(NUMBER_WIDTH)).join("")}`;
}

function sum(verdicts: readonly RunVerdict[], pick: (one: RunVerdict) => number): number {
  return verdicts.reduce((total, one) => total + pick(one), 0);
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(3)} s`;
}

function grouped(count: number): string {
  return count.toLocaleString("en-US");
}

function clock(ms: number): string {
  const total = Math.floor(ms / 1000);
  return `${Math.floor(total / 60)}:${String(total % 60).padStart(2, "0")} min`;
}
