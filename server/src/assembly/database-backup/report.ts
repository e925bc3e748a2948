import type { Inspection } from "./inspect.ts";

const DIFFERENCES_SHOWN_MAX = 10;
const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** Sentences about what was found in `place`. */
export function describeInspection(place: string, { audit, tableCount, rowCount }: Inspection): readonly string[] {
  const read = `All ${rowCount} rows of ${tableCount} tables in ${place} were read`;
  if (audit.isSound) return [`${read}, and the audit of its books found no difference.`];
  const differences = audit.checks.flatMap(({ name, differences: found }) =>
    found.map(({ subject, problem }) => `  ${name}: ${subject}: ${problem}`),
  );
  return [
    `${read}. THE AUDIT OF ITS BOOKS FOUND DIFFERENCES:`,
    ...differences.slice(0, DIFFERENCES_SHOWN_MAX),
    "Compare with the audit of the running server: ./berth audit --full",
  ];
}

/** A size with three digits and its unit, in powers of 1,000. */
export function sizeText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  return `${Number((bytes / 1000 ** power).toPrecision(3))} ${UNITS[power] ?? ""}`;
}

type Outcome = { readonly isSound: boolean; readonly lines: readonly string[] };

/** Runs a program of backups, prints what it says, and sets the exit code: 1 for a failure or books that differ. */
export async function finish(work: () => Promise<Outcome>): Promise<void> {
  try {
    const { isSound, lines } = await work();
    process.stdout.write(`${lines.join("\n")}\n`);
    if (!isSound) process.exitCode = 1;
  } catch (error) {
    process.stdout.write(`berth: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
