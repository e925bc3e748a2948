import type { WebSocket } from "ws";
import type { Clock } from "../../base/clock.ts";
import type { ServerId } from "../../base/ids.ts";
import type { Database } from "../../db/connect.ts";
import { withTransaction } from "../../db/transaction.ts";
import { lockMachines } from "../../domains/supply/hosts/index.ts";
import type { AgentGateway } from "../../domains/supply/hosts/for-assembly.ts";
import { listUnreachedRuns, storeEvidence, type UnreachedRun } from "../../domains/rental/instances/for-assembly.ts";
import type { Loop } from "../../base/loop-driver.ts";

const RUNS_PER_ROUND = 256;
/** The time that a host has to open a tunnel, and the SSH server in it to send its greeting. */
const ANSWER_MS = 5_000;
/** The first bytes that every SSH server sends (RFC 4253). */
const GREETING = "SSH-2.0-";

type Gateway = Pick<AgentGateway, "openTunnel">;

/**
 * Connects to each container that its host reports as running, through the host and the SSH server in front of it. The
 * time of a run is charged from then on; without such a connection a minute of the host's report counts
 * (`countableMs`).
 */
export function startEvidenceLoop({
  database,
  clock,
  gateway,
  serverId,
}: {
  readonly database: Database;
  readonly clock: Clock;
  readonly gateway: Gateway;
  readonly serverId: () => ServerId | undefined;
}): Loop {
  return {
    name: "reach-starts",
    description: "Reaches containers that are said to run: their hosts' word alone is good for a minute.",
    everyMs: 1_000,
    run: async () => {
      const runs = await listUnreachedRuns(database.kysely, serverId(), RUNS_PER_ROUND);
      const answers = await Promise.all(runs.map((run) => isReached(run, gateway, clock)));
      const reached = runs.filter((_run, index) => answers[index]);
      if (reached.length === 0) return { tried: runs.length, reached: 0 };
      const stored = await withTransaction(database, clock, async (tx) => {
        await lockMachines(
          tx,
          [...new Set(reached.map(({ machineId }) => machineId))].toSorted((a, b) => a - b),
        );
        return storeEvidence(tx, reached);
      });
      return { tried: runs.length, reached: stored };
    },
  };
}

/** True when the SSH server of a container sends its greeting in time. */
async function isReached({ machineId, instanceId }: UnreachedRun, gateway: Gateway, clock: Clock): Promise<boolean> {
  const over = new AbortController();
  const tooLate = clock.sleep(ANSWER_MS, over.signal).then(() => false);
  const answer = gateway.openTunnel(machineId, { instance_id: instanceId, service: "ssh" }).then(async (tunnel) => {
    if (tunnel === undefined) return false;
    void tooLate.then(() => tunnel.terminate());
    return isGreeted(tunnel);
  });
  return Promise.race([answer, tooLate]).finally(() => over.abort());
}

/** True when the far end of the tunnel begins as SSH servers do. The tunnel is closed in either case. */
function isGreeted(tunnel: WebSocket): Promise<boolean> {
  return new Promise((resolve) => {
    let said = "";
    tunnel.on("message", (data: Buffer) => {
      said += data.toString("latin1");
      if (said.length < GREETING.length) return;
      resolve(said.startsWith(GREETING));
      tunnel.terminate();
    });
    tunnel.on("error", () => {});
    tunnel.once("close", () => resolve(false));
    if (tunnel.readyState === tunnel.OPEN) tunnel.resume();
    else resolve(false);
  });
}
