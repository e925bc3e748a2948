// The cost of an idle service: start to `ready`, cold and warm, and resident memory, each process by itself.
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { readNumbers } from "./support/arguments.ts";
import { endProcess, spawnServer } from "./support/berth-server.ts";
import { describeEnvironment } from "./support/environment.ts";
import { median, medianAndRange, rounded, table } from "./support/figures.ts";
import { childrenOf, commandOf, memoryOf } from "./support/processes.ts";

const MEGABYTE = 1_000_000;

type Role = "server" | "agent" | "PostgreSQL";
type Kind = { readonly name: string; readonly environment: Readonly<Record<string, string>> };

type Figures = {
  readonly coldMs: number;
  readonly warmMs: number;
  readonly residentBytes: Readonly<Record<Role, number>>;
  readonly proportionalBytes: Readonly<Record<Role, number>>;
};

export async function run(args: readonly string[]): Promise<void> {
  const { rounds, "idle-seconds": idleSeconds, hosts } = readNumbers(args, { rounds: 5, "idle-seconds": 10, hosts: 3 });
  console.log(describeEnvironment(tmpdir()));
  const kinds: readonly Kind[] = [
    { name: `--simulate ${hosts}`, environment: { BERTH_SIMULATE: String(hosts) } },
    { name: "--no-agent", environment: { BERTH_NO_AGENT: "1" } },
  ];
  const rows: string[][] = [];
  for (const kind of kinds) {
    const all: Figures[] = [];
    for (let round = 0; round < rounds; round += 1) all.push(await startTwice(kind, idleSeconds * 1000));
    rows.push(rowOf(kind, all));
  }
  console.log(
    `\nCold: an empty data directory, the database is created. Warm: the second start on it. Memory after ` +
      `${idleSeconds} s of rest: resident MB, in brackets each page divided by those who share it (PSS).\n` +
      `Median (range) of ${rounds}.\n`,
  );
  console.log(table([["", "cold start ms", "warm start ms", "server MB", "agent MB", "PostgreSQL MB"], ...rows]));
}

function rowOf({ name }: Kind, all: readonly Figures[]): string[] {
  const memory = (role: Role) => {
    const resident = all.map((figures) => figures.residentBytes[role] / MEGABYTE);
    const proportional = all.map((figures) => figures.proportionalBytes[role] / MEGABYTE);
    return median(resident) === 0 ? "-" : `${medianAndRange(resident)} [${rounded(median(proportional))}]`;
  };
  const starts = (pick: (figures: Figures) => number) => medianAndRange(all.map(pick));
  return [
    name,
    starts((figures) => figures.coldMs),
    starts((figures) => figures.warmMs),
    memory("server"),
    memory("agent"),
    memory("PostgreSQL"),
  ];
}

async function startTwice({ environment }: Kind, idleMs: number): Promise<Figures> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "berth-bench-idle-"));
  await chmod(dataDir, 0o711);
  try {
    const settings = { environment: { BERTH_DATA_DIR: dataDir, ...environment } };
    const cold = await spawnServer(settings);
    await endProcess(cold.child);
    const warm = await spawnServer(settings);
    await new Promise((resolve) => setTimeout(resolve, idleMs));
    const memory = memoryByRole(warm.child.pid ?? 0);
    await endProcess(warm.child);
    return { coldMs: cold.startMs, warmMs: warm.startMs, ...memory };
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** The server with its children: one agent process, and PostgreSQL with its own. */
function memoryByRole(serverPid: number): Pick<Figures, "residentBytes" | "proportionalBytes"> {
  const residentBytes = { server: 0, agent: 0, PostgreSQL: 0 };
  const proportionalBytes = { server: 0, agent: 0, PostgreSQL: 0 };
  const add = (role: Role, pid: number) => {
    const memory = memoryOf(pid);
    residentBytes[role] += memory.residentBytes;
    proportionalBytes[role] += memory.proportionalBytes;
  };
  add("server", serverPid);
  for (const child of childrenOf(serverPid)) {
    if (commandOf(child).includes("agent/src/main")) add("agent", child);
    else for (const pid of [child, ...childrenOf(child)]) add("PostgreSQL", pid);
  }
  return { residentBytes, proportionalBytes };
}
