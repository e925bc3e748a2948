import { secretFileVariables } from "./secret-files.ts";
import { SETTINGS } from "./settings-table.ts";

/**
 * Variables that other programs of the same environment read: the client, agents, workers, tests and benchmarks. A test
 * compares the list with the sources.
 */
export const SETTINGS_ELSEWHERE: readonly string[] = [
  "BERTH_AGENT_ALLOW_REGISTRIES",
  "BERTH_AGENT_BIND",
  "BERTH_AGENT_BOOT_ID",
  "BERTH_AGENT_CA_FILE",
  "BERTH_AGENT_DECLARE_GPUS",
  "BERTH_AGENT_DOCKER_SOCKET",
  "BERTH_AGENT_ENDS_WITH_STDIN",
  "BERTH_AGENT_GEOLOCATION",
  "BERTH_AGENT_HOST_KEY",
  "BERTH_AGENT_INET_DOWN",
  "BERTH_AGENT_INET_UP",
  "BERTH_AGENT_JOIN_TOKEN",
  "BERTH_AGENT_LOCAL_IMAGES",
  "BERTH_AGENT_NO_INSTALL",
  "BERTH_AGENT_PORT_RANGE",
  "BERTH_AGENT_PUBLIC_IP",
  "BERTH_AGENT_SELF_UPGRADE",
  "BERTH_AGENT_SERVER",
  "BERTH_AGENT_SIMULATE",
  "BERTH_AGENT_SIMULATE_GPUS",
  "BERTH_AGENT_STATE_DIR",
  "BERTH_AGENT_TOKEN",
  "BERTH_AGENT_TRIAL_SECONDS",
  "BERTH_API_KEY",
  "BERTH_BENCH_MEMORY_FILE",
  "BERTH_BENCH_NODE_ARGUMENTS",
  "BERTH_CHAOS_STEPS",
  "BERTH_CHEATS_SEEDS",
  "BERTH_CRASH_KILLS",
  "BERTH_CRASH_ROUNDS",
  "BERTH_FUZZ_REQUESTS",
  "BERTH_PROPERTY_RUNS",
  "BERTH_REGISTRY_PASSWORD",
  "BERTH_STORM_RUSH",
  "BERTH_TEST_FRESH_DATA",
  "BERTH_TEST_POSTGRES",
  "BERTH_UPGRADE_FROM",
  "BERTH_TEST_SEED",
  "BERTH_URL",
  "BERTH_WORKER_AT_ONCE",
  "BERTH_WORKER_BACKEND",
  "BERTH_WORKER_BENCHMARK",
  "BERTH_WORKER_BENCHMARK_AT_ONCE",
  "BERTH_WORKER_BENCHMARK_FILE",
  "BERTH_WORKER_BENCHMARK_REQUESTS",
  "BERTH_WORKER_HEALTH",
  "BERTH_WORKER_MAX_QUEUE_TIME",
  "BERTH_WORKER_PERF",
  "BERTH_WORKER_ROUTES",
];

/** A name further away than this from every known one is not a slip of the hand. */
const SLIPS_MAX = 3;
const NAMES_MAX = 20;

/** One sentence for each variable that looks like a setting of Berth and is none. */
export function unknownSettings(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const known = [...SETTINGS.map(({ name }) => name), ...SETTINGS_ELSEWHERE, ...secretFileVariables().keys()];
  const unknown = Object.keys(environment).filter(
    (name) => /^BERTH_\w{1,60}$/i.test(name) && environment[name] !== "" && !known.includes(name),
  );
  return unknown
    .toSorted()
    .slice(0, NAMES_MAX)
    .map((name) => {
      const [nearest] = known
        .map((candidate) => ({ candidate, slips: slipsBetween(name.toUpperCase(), candidate) }))
        .filter(({ slips }) => slips <= SLIPS_MAX)
        .toSorted((a, b) => a.slips - b.slips);
      const advice = nearest === undefined ? "docs/run.md lists them" : `did you mean ${nearest.candidate}?`;
      return `${name} is not a setting of Berth and changes nothing; ${advice}`;
    });
}

/** The least number of letters to insert, remove or replace that makes one text of the other. */
function slipsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
