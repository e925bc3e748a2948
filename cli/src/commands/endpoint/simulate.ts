import { readFileSync } from "node:fs";
import {
  endpointSimulate,
  type EndpointSimulateAnswer,
  type EndpointSimulateInput,
} from "../../../../sdk/src/operations.ts";
import { readClock } from "../../clock.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { given } from "../../given.ts";
import { dollars, printAnswer, renderTable, type Column } from "../../output.ts";
import { parametersOf, type ParameterOptions } from "./parameters.ts";

type Body = NonNullable<EndpointSimulateInput["body"]>;
type Options = ConnectionOptions &
  ParameterOptions & {
    readonly state?: string;
    readonly hours: number;
    readonly trace?: string;
    readonly worker?: object;
    readonly json?: boolean;
  };
type Figures = EndpointSimulateAnswer["present"];
type Row = { readonly what: string; readonly present: string; readonly proposed: string };

const SECONDS_PER_HOUR = 3600;
const MS_PER_S = 1000;

const COLUMNS: readonly Column<Row>[] = [
  { title: "", cell: ({ what }) => what },
  { title: "PRESENT", cell: ({ present }) => present },
  { title: "PROPOSED", cell: ({ proposed }) => proposed },
];

/** Figures of one side of the comparison, a row each. */
const LINES: readonly (readonly [what: string, cell: (figures: Figures) => string])[] = [
  ["cost", ({ cost }) => dollars(cost)],
  ["cost per 1,000 requests", (figures) => dollars(figures.cost_per_1000_requests)],
  ["requests", ({ requests }) => String(requests)],
  ["waited over a second", ({ late_share: share }) => `${Number((100 * share).toFixed(2))} %`],
  ["never served", ({ unserved }) => String(unserved)],
  ["median wait", (figures) => waitText(figures.wait_p50)],
  ["wait of 95 in 100", (figures) => waitText(figures.wait_p95)],
  ["wait of 99 in 100", (figures) => waitText(figures.wait_p99)],
  ["worker-hours running", (figures) => figures.hot_hours.toFixed(2)],
  ["worker-hours stopped", (figures) => figures.cold_hours.toFixed(2)],
  ["most workers", (figures) => String(figures.workers_max)],
  ["starts and stops", ({ starts, stops }) => `${starts} and ${stops}`],
  ["reversed in a minute", ({ flaps }) => String(flaps)],
];

/** Compares other parameters with the present ones on past traffic; changes nothing. */
export async function simulateEndpoint(id: number, options: Options): Promise<void> {
  const { state, trace, hours, worker } = options;
  const body = {
    ...parametersOf(options),
    ...given({ endpoint_state: state }),
    ...(trace === undefined
      ? { from: Math.floor(readClock().getTime() / MS_PER_S) - hours * SECONDS_PER_HOUR }
      : { trace: readTrace(trace) }),
    ...(worker === undefined ? {} : { worker: worker as NonNullable<Body["worker"]> }),
  };
  const answer = await endpointSimulate(connect(options), { id, body });
  printAnswer(answer, options, ({ present, proposed, sentence }) => {
    const rows = LINES.map(([what, cell]) => ({ what, present: cell(present), proposed: cell(proposed) }));
    return `${renderTable(rows, COLUMNS, "")}\n\n${sentence}`;
  });
}

/**
 * Reads a trace: one line for each request, after an optional line of titles. The server checks the ranges of the
 * numbers.
 */
function readTrace(file: string): readonly (readonly number[])[] {
  const lines = readText(file).split(/\r?\n/);
  return lines.flatMap((line, index) => {
    const match = /^\s*(\d+(?:\.\d+)?)\s*,\s*(\d+(?:\.\d+)?)\s*$/.exec(line);
    if (match !== null) return [[Number(match[1]), Number(match[2])]];
    if (line.trim() === "" || index === 0) return [];
    throw new UserError(
      `Line ${index + 1} of ${file} is not seconds,cost.`,
      "Write one line for each request, such as 12.5,100",
      2,
    );
  });
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : "it cannot be read";
    throw new UserError(`${file} cannot be read: ${reason}.`, "Name a CSV file of seconds,cost.", 2);
  }
}

function waitText(seconds: number | null): string {
  return seconds === null ? "for ever" : `${seconds} s`;
}
