import { invalid, throwRefusal } from "../../../../base/errors.ts";
import { formatDollars, nanos, type Nanos } from "../../../../base/money.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { BID_MAX_NANOS, readMachineStates, setGpuGrantPrice } from "../../../supply/market/for-instances.ts";
import { refreshOffers } from "../../../supply/market/index.ts";
import { renewClaim } from "./claim-store.ts";
import { belowMinBid, minBidOf } from "./claims.ts";
import type { Instance } from "../instance.ts";
import { requireOwnInstance } from "../own-spending.ts";
import { requireInstance, renewHold, type InstanceRequest } from "../service.ts";
import { listRanks } from "./rank-service.ts";
import { setPrice } from "../store.ts";
import { endTerms } from "../rentals/terms-service.ts";
import { reschedule } from "../lifecycle/transitions.ts";
import { refuseBid } from "../rules/refusals.ts";

/**
 * Changes the bid of an interruptible instance; the schedule follows at once. Null asks for the lowest bid that runs
 * now. A bid below the host's minimum is refused, since it could never run.
 */
export async function changeBid(tx: Tx, request: InstanceRequest, asked: Nanos | null): Promise<void> {
  const instance = await requireInstance(tx, request);
  const { id, machineId, deviceCount } = instance;
  await requireOwnInstance(tx.db, request.apiKeyId, instance);
  throwRefusal(refuseBid(instance));
  const machine = (await readMachineStates(tx, [machineId])).get(machineId);
  const minBidNanos = machine === undefined ? 0n : minBidOf(machine, deviceCount);
  const bid = asked ?? (await bidToRun(tx, instance));
  if (bid < minBidNanos) throw belowMinBid(minBidNanos, deviceCount);
  await endTerms(tx, instance);
  await setPrice(tx, id, bid);
  await setGpuGrantPrice(tx, id, bid / BigInt(deviceCount));
  if (bid > instance.priceNanosPerHour) await renewClaim(tx, id, { isFresh: false });
  await reschedule(tx, [machineId]);
  await refreshOffers(tx, [machineId]);
  // Ledger rows are locked last of all, in every use case.
  await renewHold(tx, { ...instance, priceNanosPerHour: bid }, "this bid on");
}

async function bidToRun(tx: Tx, instance: Instance): Promise<Nanos> {
  const rank = (await listRanks(tx.db, [instance], tx.now)).get(instance.id);
  if (rank?.bidToRunNanos !== undefined) return nanos(rank.bidToRunNanos);
  throw invalid(
    "price",
    `No bid up to $${formatDollars(BID_MAX_NANOS)} an hour would make instance ${instance.id} run now.`,
  );
}
