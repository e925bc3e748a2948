import { spawn } from "node:child_process";
import path from "node:path";
import { systemClock } from "../../server/src/base/clock.ts";
import { asId, type UserId } from "../../server/src/base/ids.ts";
import { withTransaction } from "../../server/src/db/transaction.ts";
import type { Database } from "../../server/src/db/connect.ts";
import { issueAgentToken } from "../../server/src/domains/supply/hosts/for-assembly.ts";
import { endProcess } from "./berth-server.ts";

const MAIN = path.join(import.meta.dirname, "../../agent/src/main.ts");

export type SimulatedAgents = { readonly processId: number; stop(): Promise<void> };

/** A token of the administrator's under which simulated hosts come back as the same machines. */
export async function simulationToken(database: Database): Promise<string> {
  const { rows } = await database.pool.query<{ id: number }>("select id from users where is_admin order by id limit 1");
  const userId = asId<UserId>(rows[0]?.id ?? 0);
  return withTransaction(database, systemClock, (tx) =>
    issueAgentToken(tx, { userId, name: "simulated hosts", isTrusted: true }),
  );
}

/** The agent program as `berth up --simulate` starts it: one process for all these hosts. */
export function startSimulatedAgents(
  url: string,
  {
    token,
    hosts,
    gpus,
    stateDir,
    logLevel = "warn",
  }: { token: string; hosts: number; gpus: number; stateDir: string; logLevel?: string },
): SimulatedAgents {
  const child = spawn(
    process.execPath,
    [
      ...["--disable-warning=ExperimentalWarning", "--max-semi-space-size=1", "--v8-pool-size=1", MAIN],
      ...["--server", url, "--public-ip", "127.0.0.1", "--state-dir", stateDir],
      ...["--simulate", String(hosts), "--simulate-gpus", String(gpus), "--host-key", "bench"],
    ],
    {
      stdio: ["ignore", "ignore", "inherit"],
      env: { PATH: process.env["PATH"], MALLOC_ARENA_MAX: "1", BERTH_AGENT_TOKEN: token, BERTH_LOG_LEVEL: logLevel },
    },
  );
  return { processId: child.pid ?? 0, stop: () => endProcess(child) };
}
