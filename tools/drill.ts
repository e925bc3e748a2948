// `./berth drill`: three servers, a PostgreSQL that fails over and many hosts; each part is killed under load, and a table says
// what was lost and how long each took.
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { table } from "../bench/support/figures.ts";
import { runDrill, seconds, type DrillReport } from "../test/support/drill/run.ts";
import { ensureDebianPackages } from "./debian-packages.ts";

const HOSTS_MAX = 10_000;

const { values } = parseArgs({
  options: {
    hosts: { type: "string", default: "1000" },
    seed: { type: "string", default: String(randomInt(1e9)) },
    part: { type: "string", multiple: true },
    "no-restore": { type: "boolean", default: false },
  },
});
const hosts = Number(values.hosts);
if (!Number.isInteger(hosts) || hosts < 1 || hosts > HOSTS_MAX) {
  console.error(`error: --hosts must be a whole number from 1 to ${HOSTS_MAX}, not "${values.hosts}"`);
  process.exit(2);
}
ensureDebianPackages(console.error);
const startMs = performance.now();
const report = await runDrill({
  hosts,
  seed: Number(values.seed),
  parts: values.part,
  hasRestore: !values["no-restore"],
  tell: (line) => console.log(`${seconds(performance.now() - startMs).padStart(8)}  ${line}`),
});
print(report);

function print({ deaths, restore, acknowledged, auditWords, problems }: DrillReport): void {
  const rows = deaths.map((death) => [
    death.part,
    death.wrongAnswerCount === 0 && problems.length === 0 ? "nothing" : "see below",
    seconds(death.writtenAfterMs),
    seconds(death.wholeAfterMs),
  ]);
  if (restore !== undefined) {
    const lost = restore.problems.length === 0 ? "nothing of before it" : "see below";
    rows.push(["restore from a backup", lost, "", seconds(restore.tookMs)]);
  }
  console.log(`\n${table([["killed or replaced", "lost", "next write after", "whole after"], ...rows])}\n`);
  console.log(`${acknowledged} acknowledged requests were compared with the database. ${auditWords}`);
  if (problems.length === 0) return console.log("Nothing was lost, and nothing was done twice.");
  console.log(`${problems.length} things are wrong (seed ${values.seed}):\n  ${problems.join("\n  ")}`);
  process.exitCode = 1;
}
