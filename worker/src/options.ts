import { parseArgs } from "node:util";
import type { Benchmark } from "./benchmark.ts";
import type { CalculateLoad } from "./request-desk.ts";
import { isMembers, parse, type Members } from "./routed-request.ts";

export const USAGE = `usage: berth worker --backend URL --route PATH[=UNITS] [--route …] [options]

Stands before a program that serves HTTP and makes it a worker of an endpoint group: it measures the program, reports to
the server, checks who sends requests, and passes them on. Which worker it is, it reads from the variables that every
container of an endpoint group has.

  --backend URL            the program                          BERTH_WORKER_BACKEND       http://127.0.0.1:8000
  --route PATH[=UNITS]     a path that requests may name        BERTH_WORKER_ROUTES        (several: by commas)
                           UNITS is how much work one is: cost (what the client said), tokens (what it may
                           produce at most), a number, or the name of a number in the request; cost if left out
  --health PATH            answers once the program can work    BERTH_WORKER_HEALTH        /health
  --benchmark JSON         a request to measure it by, at the   BERTH_WORKER_BENCHMARK     {}
                           first route
  --benchmark-requests N   how many of them                     BERTH_WORKER_BENCHMARK_REQUESTS     8
  --benchmark-at-once N    so many at a time                    BERTH_WORKER_BENCHMARK_AT_ONCE      4
  --benchmark-file PATH    keeps the result for later starts    BERTH_WORKER_BENCHMARK_FILE         /var/tmp/berth-benchmark.json
  --perf N                 units a second, instead of measuring BERTH_WORKER_PERF
  --at-once N              requests that the program is given   BERTH_WORKER_AT_ONCE       no limit
                           at a time
  --max-queue-time S       a request that would wait longer is  BERTH_WORKER_MAX_QUEUE_TIME         30
                           refused
  --help`;

export type SidecarOptions = {
  readonly backendUrl: string;
  readonly routes: readonly string[];
  readonly healthPath: string;
  readonly benchmark: Benchmark | { readonly perf: number };
  readonly calculateLoad: CalculateLoad;
  readonly maxQueueSeconds: number;
  readonly atOnce: number;
};

export type OptionsReading =
  | { readonly ok: true; readonly options: SidecarOptions }
  | { readonly ok: false; readonly problem: string };

type Variables = Readonly<Record<string, string | undefined>>;

const FLAGS = {
  backend: { type: "string" },
  route: { type: "string", multiple: true },
  health: { type: "string" },
  benchmark: { type: "string" },
  "benchmark-requests": { type: "string" },
  "benchmark-at-once": { type: "string" },
  "benchmark-file": { type: "string" },
  perf: { type: "string" },
  "at-once": { type: "string" },
  "max-queue-time": { type: "string" },
} as const;

/** Reads flags, then variables, then defaults. */
export function readOptions(argv: readonly string[], variables: Variables): OptionsReading {
  try {
    return { ok: true, options: readAll(parseArgs({ args: [...argv], options: FLAGS }).values, variables) };
  } catch (error) {
    return { ok: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

function readAll(given: Readonly<Record<string, string | string[] | undefined>>, variables: Variables): SidecarOptions {
  const find = (flag: keyof typeof FLAGS): string | undefined => {
    const value = given[flag];
    if (typeof value === "string") return value;
    return variables[`BERTH_WORKER_${flag.toUpperCase().replaceAll("-", "_")}`] || undefined;
  };
  const number = (flag: keyof typeof FLAGS, fallback: number): number => {
    const text = find(flag);
    const value = text === undefined ? fallback : Number(text);
    const isFine = value > 0 && (text === undefined || Number.isFinite(value));
    if (!isFine) throw new Error(`--${flag}: a number above zero`);
    return value;
  };
  const count = (flag: keyof typeof FLAGS, fallback: number): number => {
    const value = number(flag, fallback);
    if (value % 1 > 0) throw new Error(`--${flag}: a whole number above zero`);
    return value;
  };
  const backendUrl = find("backend") ?? "http://127.0.0.1:8000";
  if (!/^https?:\/\//.test(backendUrl) || !URL.canParse(backendUrl)) throw new Error("--backend: an address");
  const units = readRoutes([given["route"] ?? variables["BERTH_WORKER_ROUTES"]?.split(",") ?? []].flat());
  const [first] = units.keys();
  if (first === undefined) throw new Error("--route: at least one path that requests may name");
  const calculateLoad: CalculateLoad = ({ route, payload, cost }) => loadOf(units.get(route) ?? "cost", payload, cost);
  const payload = parse(find("benchmark") ?? "{}");
  if (!isMembers(payload)) throw new Error("--benchmark: a JSON object");
  const measured = {
    ...{ route: first, payload, load: calculateLoad({ route: first, payload, cost: COST_DEFAULT }) },
    requests: count("benchmark-requests", 8),
    concurrency: count("benchmark-at-once", 4),
    file: find("benchmark-file") ?? "/var/tmp/berth-benchmark.json",
  };
  return {
    ...{ backendUrl, routes: [...units.keys()], healthPath: find("health") ?? "/health", calculateLoad },
    benchmark: find("perf") === undefined ? measured : { perf: number("perf", 0) },
    maxQueueSeconds: number("max-queue-time", 30),
    atOnce: count("at-once", Number.POSITIVE_INFINITY),
  };
}

/** The cost that clients send by default. */
const COST_DEFAULT = 100;
const TOKENS_DEFAULT = 512;
const TOKEN_FIELDS = ["max_completion_tokens", "max_tokens", "max_new_tokens", "n_predict"] as const;

/** Reads paths with their units. */
function readRoutes(words: readonly string[]): ReadonlyMap<string, string> {
  const routes = words.map((word) => word.trim()).filter((word) => word !== "");
  return new Map(
    routes.map((word) => {
      const [path = "", units = "cost"] = word.split("=");
      if (!/^\/[^\s?#]+$/.test(path)) throw new Error(`--route: a path such as /v1/completions, not ${path}`);
      return [path, units];
    }),
  );
}

function loadOf(units: string, payload: Members, cost: number): number {
  const fixed = Number(units);
  if (fixed > 0) return fixed;
  if (units === "cost") return cost;
  const fields = units === "tokens" ? TOKEN_FIELDS : [units];
  const [found] = fields.map((field) => payload[field]).filter((value) => typeof value === "number" && value > 0);
  if (typeof found === "number") return found;
  return units === "tokens" ? TOKENS_DEFAULT : cost;
}
