// A failed seed for people: what happened, one sentence after the other, and what it broke.
import type { Case } from "./case.ts";

const [SECOND_MS, MINUTE_MS, HOUR_MS] = [1_000, 60_000, 3_600_000];

export function storyOf(seed: string, { story, broken }: Case): string {
  const sentences: string[] = [];
  let passedMs = 0;
  const passed = () => {
    if (passedMs > 0) sentences.push(`${durationOf(passedMs)} pass`);
    passedMs = 0;
  };
  for (const entry of story) {
    if (entry.kind === "time") passedMs += entry.ms;
    else {
      passed();
      sentences.push(entry.outcome === "" ? entry.sentence : `${entry.sentence}: ${entry.outcome}`);
    }
  }
  passed();
  return [
    `Seed ${seed}`,
    ...sentences.map((sentence, index) => `${String(index + 1).padStart(4)}. ${sentence}`),
    `      Broken: ${broken?.invariant ?? "nothing"}`,
    `      ${broken?.figures ?? ""}`,
  ].join("\n");
}

function durationOf(ms: number): string {
  if (ms < MINUTE_MS) return `${ms / SECOND_MS} seconds`;
  return ms < 2 * HOUR_MS ? `${round(ms / MINUTE_MS)} minutes` : `${round(ms / HOUR_MS)} hours`;
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}
