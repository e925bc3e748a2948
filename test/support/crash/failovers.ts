import { medianAndRange, table } from "../../../bench/support/figures.ts";
import type { KillNews } from "./run.ts";

/** Seconds without a write after each kind of kill: the median, and the range. */
export function failoverTable(told: readonly KillNews[]): string {
  const kinds = Map.groupBy(told, ({ what }) => what.replace(/ \(.*/, ""));
  const seconds = (list: readonly number[]) =>
    medianAndRange(
      list.map((ms) => ms / 1000),
      1,
    );
  const rows = [...kinds].map(([kind, all]) => [
    kind,
    String(all.length),
    seconds(all.map(({ writtenAfterMs }) => writtenAfterMs)),
    seconds(all.map(({ backAfterMs }) => backAfterMs)),
  ]);
  return table([["killed", "times", "s until the next write", "s until a standby follows again"], ...rows]);
}
