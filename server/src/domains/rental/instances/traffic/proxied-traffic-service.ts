import type { Tx } from "../../../../db/transaction.ts";
import { listUplinks } from "../../../supply/hosts/for-instances.ts";
import { flagContradictions, rateOf } from "../counting/counting-service.ts";
import {
  addProxiedTraffic,
  forgetProxiedTraffic,
  lockComparableRuns,
  noteProxiedTraffic,
  type SentBytes,
} from "./proxied-traffic-store.ts";
import { belowProxied } from "./proxied-traffic.ts";

const RUNS_PER_ROUND = 1_000;

/**
 * Adds the bytes that this server carried out of containers, compares the sums of all servers with the hosts' counts,
 * and flags hosts that count fewer bytes. Safe on several servers at once: each run is compared by one of them.
 */
export async function watchProxiedTraffic(
  tx: Tx,
  sent: readonly SentBytes[],
): Promise<{ readonly compared: number; readonly flagged: number }> {
  await forgetProxiedTraffic(tx);
  await addProxiedTraffic(tx, sent);
  const runs = await lockComparableRuns(tx, RUNS_PER_ROUND);
  const uplinks = await listUplinks(tx.db, [...new Set(runs.map(({ machineId }) => machineId))]);
  const contradictions = runs.flatMap(
    (run) => belowProxied(run, rateOf(uplinks.get(run.machineId)).sentBytesPerMs) ?? [],
  );
  await flagContradictions(tx, contradictions);
  await noteProxiedTraffic(tx, runs);
  return { compared: runs.length, flagged: contradictions.length };
}
