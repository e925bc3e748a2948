import type { MachineId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import {
  readMachineStates,
  readMarketRules,
  rankOf,
  type Claim,
  type Rank,
} from "../../../supply/market/for-instances.ts";
import { listClaims, type StoredClaim } from "./claim-store.ts";
import { minBidOf, machineClaims } from "./claims.ts";
import type { Instance } from "../instance.ts";

/** The ranks of bids, and of instances that wait, in the schedules of their machines. */
export async function listRanks(
  db: Reader,
  instances: readonly Instance[],
  now: Date,
): Promise<ReadonlyMap<Instance["id"], Rank>> {
  const asked = instances.filter(hasRank);
  const machineIds = [...new Set(asked.map((instance) => instance.machineId))];
  if (machineIds.length === 0) return new Map();
  const [rules, allClaims, states] = await Promise.all([
    readMarketRules(db),
    listClaims(db, machineIds),
    readMachineStates({ db }, machineIds),
  ]);
  const claims = Map.groupBy(allClaims, (claim) => claim.machineId);
  const machines = new Map<MachineId, ReturnType<typeof machineClaims>>();
  for (const [id, state] of states) machines.set(id, machineClaims(state, claims.get(id) ?? [], rules, now));
  const ranks = new Map<Instance["id"], Rank>();
  for (const instance of asked) {
    const [machine, state] = [machines.get(instance.machineId), states.get(instance.machineId)];
    if (machine === undefined || state === undefined) continue;
    const own = ownClaim(instance, claims.get(instance.machineId) ?? [], now);
    ranks.set(instance.id, rankOf(machine, own, minBidOf(state, instance.deviceCount)));
  }
  return ranks;
}

function hasRank({ isBid, phase }: Instance): boolean {
  return phase === "scheduled" || (isBid && phase !== "ending" && phase !== "ended");
}

/** A stopped instance has no claim, so this builds the one that it would have after a start. */
function ownClaim(instance: Instance, claims: readonly StoredClaim[], now: Date): Claim {
  const found = claims.find((claim) => claim.instanceId === instance.id);
  if (found !== undefined) return found;
  const { id: instanceId, isBid, priceNanosPerHour, deviceCount } = instance;
  const claimedAtMs = now.getTime();
  return {
    instanceId,
    isBid,
    isBackground: false,
    priceNanosPerHour,
    deviceCount,
    claimedAtMs,
    displacedAtMs: undefined,
  };
}
