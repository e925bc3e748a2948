import { AppError, invalid } from "../../../../base/errors.ts";
import { accountFrozen } from "../../../../base/freeze.ts";
import { asId, type InstanceId, type MachineId, type OfferId } from "../../../../base/ids.ts";
import { nanos } from "../../../../base/money.ts";
import { bytesOf, storageNanosPerHour } from "../../../../base/hourly-price.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { onceEach } from "../../../../db/idempotency.ts";
import { accountGone, copySshKeys, insertInstanceKeys } from "../../../people/accounts/for-instances.ts";
import { keepAccounts } from "../../../people/accounts/index.ts";
import { lockMachines } from "../../../supply/hosts/index.ts";
import { placeHolds, type HoldId } from "../../../money/ledger/index.ts";
import { releaseHolds } from "../../../money/ledger/for-instances.ts";
import {
  alignOffers,
  diskBytesOf,
  findOffers,
  insertGpuGrants,
  readMachineStates,
  termsOf,
  worsenings,
  type KnownOffer,
  type MachineState,
  type NewGpuGrant,
} from "../../../supply/market/for-instances.ts";
import { isOpen, refreshOffers } from "../../../supply/market/index.ts";
import { recordTemplateUse } from "../../templates/index.ts";
import { attachVolumes, lockLinkedVolumes, planVolumeLink } from "../../../supply/volumes/for-instances.ts";
import { scopesOf } from "../cap-scopes.ts";
import { listClaims, type StoredClaim } from "../bids/claim-store.ts";
import { belowMinBid, minBidOf } from "../bids/claims.ts";
import { agreedPrice } from "./create-answer.ts";
import { findBarred } from "./barred-images.ts";
import type { Candidate, CreateOutcome } from "./candidate.ts";
import type { CreateOrder } from "./create-order.ts";
import { askIsGone, askIsReplaced, askIsUsedUp, costsTooMuch, noSuchAsk, unpayable } from "./create-refusals.ts";
import { DeviceBook, type Place } from "./device-book.ts";
import { tellCreated } from "../lifecycle/notifications.ts";
import { holdAmount } from "../rules/pricing.ts";
import { takeProxyPorts } from "../access/proxy-port-store.ts";
import { InstanceQuota } from "./instance-quota.ts";
import { insertRuns } from "../counting/run-store.ts";
import { insertInstances, lockInstances, notifyDesired } from "../store.ts";
import { readTrafficDefaults, trafficOf } from "../traffic/traffic-defaults.ts";
import { grantsOf, reschedule } from "../lifecycle/transitions.ts";
import { requireSoleWriter } from "../lifecycle/writers.ts";

const BYTES_PER_GB = 1_000_000_000;

/**
 * Rents a batch of offers in one transaction: one durable write for all of them. An order that cannot be served is
 * answered with its error and leaves nothing behind; the others go through.
 */
export async function createInstances(tx: Tx, orders: readonly CreateOrder[]): Promise<readonly CreateOutcome[]> {
  const outcomes = await onceEach(tx, orders, (fresh) => rentAll(tx, fresh));
  return orders.map(
    (order) => outcomes.get(order) ?? new AppError("internal", "internal_error", "The order was lost."),
  );
}

async function rentAll(tx: Tx, orders: readonly CreateOrder[]): Promise<ReadonlyMap<CreateOrder, CreateOutcome>> {
  const outcomes = new Map<CreateOrder, CreateOutcome>();
  if (orders.length === 0) return outcomes;
  const accounts = await keepAccounts(
    tx,
    orders.map(({ userId }) => userId),
  );
  const offers = await readOffers(tx, orders);
  const barred = await findBarred(tx, offers);
  const candidates: Candidate[] = [];
  for (const order of orders) {
    const known = offers.get(order);
    const freeze = accounts.get(order.userId);
    const candidate =
      known === undefined ? noSuchAsk(order.offerId) : (barred.get(order) ?? assess(tx.now, order, known));
    if (!accounts.has(order.userId)) outcomes.set(order, accountGone());
    else if (freeze !== undefined) outcomes.set(order, accountFrozen(freeze));
    else if (candidate instanceof AppError) outcomes.set(order, candidate);
    else candidates.push(candidate);
  }
  await rent(tx, candidates, outcomes);
  return outcomes;
}

/**
 * The instance that an order would make of its offer; throws the refusal if there is one. Locks the machine, as the
 * creation does.
 */
export async function assessOrder(tx: Tx, order: CreateOrder): Promise<Candidate> {
  const offers = await readOffers(tx, [order]);
  const known = offers.get(order);
  const barred = (await findBarred(tx, offers)).get(order);
  const candidate = known === undefined ? noSuchAsk(order.offerId) : (barred ?? assess(tx.now, order, known));
  if (candidate instanceof AppError) throw candidate;
  return candidate;
}

/** The offer that an order names, and its machine as it is under its lock. */
type Named = { readonly offer: KnownOffer; readonly state: MachineState };

/** Locks the machines of these orders and reads the named offers; orders for offers that never existed are missing. */
async function readOffers(tx: Tx, orders: readonly CreateOrder[]): Promise<ReadonlyMap<CreateOrder, Named>> {
  const ids = [...new Set(orders.map(({ offerId }) => asId<OfferId>(lookupId(offerId))))];
  const found = await findOffers(tx.db, ids);
  const machineIds = [...new Set([...found.values()].map((offer) => offer.machineId))].toSorted((a, b) => a - b);
  await lockMachines(tx, machineIds);
  const states = await readCurrentStates(tx, machineIds);
  const liveIds = new Set([...states.values()].flatMap(({ offers }) => offers.map(({ id }) => id)));
  // An offer that was retired while its machine's lock was waited for is read again, because the reason decides the
  // answer.
  const retired = await findOffers(
    tx.db,
    ids.filter((id) => found.has(id) && !liveIds.has(id)),
  );
  return new Map(
    orders.flatMap((order) => {
      const id = asId<OfferId>(lookupId(order.offerId));
      const offer = retired.get(id) ?? found.get(id);
      const state = offer && states.get(offer.machineId);
      return offer === undefined || state === undefined ? [] : [[order, { offer, state }] as const];
    }),
  );
}

/**
 * The states of these machines, with offers that promise no more than the machine gives now. A change of terms refreshes
 * the offers itself; one that did not is found and mended here, before anybody pays more than was promised.
 */
async function readCurrentStates(tx: Tx, machineIds: readonly MachineId[]) {
  const states = await readMachineStates(tx, machineIds);
  const stale = [...states.values()].filter(({ machine, offers }) =>
    offers.some(({ terms }) => worsenings(terms, termsOf(machine)).length > 0),
  );
  if (stale.length === 0) return states;
  await alignOffers(tx, stale);
  return readMachineStates(tx, machineIds);
}

/** An id beyond the range of a row matches no offer. */
function lookupId(id: number): number {
  return Number.isInteger(id) && id > 0 && id <= 2_147_483_647 ? id : 0;
}

/** The instance that an order would make of its offer, or the refusal. */
function assess(now: Date, order: CreateOrder, { offer: known, state }: Named): Candidate | AppError {
  const { machine } = state;
  const offer = state.offers.find((live) => live.id === order.offerId);
  if (offer === undefined) return known.isReplaced ? askIsReplaced(known, state) : askIsUsedUp(order.offerId);
  if (!isOpen(machine, now)) return askIsGone(order.offerId);
  const { bidNanosPerHour, launch } = order;
  const diskGbMax = Number(diskBytesOf(state, offer.deviceCount)) / BYTES_PER_GB;
  if (launch.disk_gb > diskGbMax) {
    const most = Math.floor(diskGbMax);
    return invalid("disk", `disk is ${launch.disk_gb} GB, but this offer has ${most} GB`, "invalid_args", {
      extra: { ask_id: order.offerId },
    });
  }
  const minBidNanos = minBidOf(state, offer.deviceCount);
  if (bidNanosPerHour !== undefined && bidNanosPerHour < minBidNanos) {
    return belowMinBid(minBidNanos, offer.deviceCount, { ask_id: order.offerId });
  }
  const priceNanosPerHour = bidNanosPerHour ?? nanos(machine.priceDeviceNanosPerHour * BigInt(offer.deviceCount));
  const diskBytes = bytesOf(launch.disk_gb);
  const storageNanosPerGbMonth = machine.priceDiskNanosPerGbMonth;
  const total = priceNanosPerHour + storageNanosPerHour({ storageNanosPerGbMonth, diskBytes });
  if (order.totalMaxNanosPerHour !== undefined && total > order.totalMaxNanosPerHour) {
    return costsTooMuch(order.offerId, { total, most: order.totalMaxNanosPerHour });
  }
  return {
    order,
    state,
    instance: {
      id: order.instanceId,
      userId: order.userId,
      machineId: machine.id,
      offerId: offer.id,
      bundleId: order.bundleId,
      templateId: order.template?.id,
      templateHashId: order.template?.hashId,
      label: launch.label ?? undefined,
      isBid: bidNanosPerHour !== undefined,
      priceNanosPerHour,
      storageNanosPerGbMonth,
      inetUpNanosPerGb: machine.priceInetUpNanosPerGb,
      inetDownNanosPerGb: machine.priceInetDownNanosPerGb,
      deviceCount: offer.deviceCount,
      diskBytes,
      launch,
      desired: order.target,
      phase: order.target === "running" ? "scheduled" : "stopped",
      phaseCause: "created",
      generation: 0,
      revision: 0,
      holdId: undefined,
      capScopes: order.capScopes,
      endAt: machine.offerEndAt,
    },
  };
}

async function rent(
  tx: Tx,
  candidates: readonly Candidate[],
  outcomes: Map<CreateOrder, CreateOutcome>,
): Promise<void> {
  if (candidates.length === 0) return;
  const machineIds = [...new Set(candidates.map(({ instance }) => instance.machineId))];
  const claims = Map.groupBy(await listClaims(tx.db, machineIds), (claim) => claim.machineId);
  const book = new DeviceBook(claims);
  const quota = new InstanceQuota();
  const accepted: Accepted[] = [];
  let undecided = candidates;
  while (undecided.length > 0) {
    const { placed, refused } = placeAll(book, undecided);
    // A claim that lost its place may be placed in the next round, and must have its locks by then.
    if (undecided === candidates) {
      await lockTouched(tx, candidates, { claims, contested: [...book.contested, ...machinesOf(refused)] });
    }
    const holds = await placeHolds(
      tx,
      placed.map(({ candidate: { order, instance } }) => ({
        userId: order.userId,
        amount: holdAmount(instance),
        cause: { instance_id: instance.id },
        scopes: scopesOf(instance),
      })),
    );
    await quota.count(
      tx,
      placed.map(({ candidate }) => candidate.order.userId),
    );
    const [short, needless]: [Placed[], HoldId[]] = [[], []];
    placed.forEach((one, index) => {
      const hold = holds[index];
      const { order } = one.candidate;
      const error = hold?.kind === "placed" ? quota.take(order.userId) : unpayable(one.candidate, hold);
      if (hold?.kind === "placed" && error === undefined) accepted.push({ ...one, holdId: hold.holdId });
      if (hold?.kind === "placed" && error !== undefined) needless.push(hold.holdId);
      if (error === undefined) return;
      short.push(one);
      outcomes.set(order, error);
    });
    await releaseHolds(tx, needless);
    for (const { candidate } of short) book.giveBack(candidate);
    for (const [{ order }, error] of refused) outcomes.set(order, error);
    // Devices that were kept for an order that could not pay, or had no place, go to the orders that came too late for
    // them.
    undecided = short.length > 0 ? [...refused.keys()] : [];
  }
  await write(tx, accepted, book);
  for (const { candidate, waiting } of accepted) {
    const { order, instance } = candidate;
    outcomes.set(order, {
      success: true,
      new_contract: instance.id,
      instance_api_key: order.instanceKey.secret,
      ask_id: instance.offerId,
      ...agreedPrice(instance),
      ...(waiting === undefined ? {} : { waiting }),
    });
  }
}

function machinesOf(refused: ReadonlyMap<Candidate, AppError>): readonly MachineId[] {
  return [...refused.keys()].map(({ instance }) => instance.machineId);
}

/**
 * Takes the locks that come before the ledger's: the instances that the schedules of these machines may move, and
 * volumes.
 */
async function lockTouched(
  tx: Tx,
  candidates: readonly Candidate[],
  {
    claims,
    contested,
  }: {
    readonly claims: ReadonlyMap<MachineId, readonly StoredClaim[]>;
    readonly contested: readonly MachineId[];
  },
): Promise<void> {
  await lockInstances(
    tx,
    contested.flatMap((id) => claims.get(id) ?? []).map(({ instanceId }) => instanceId),
  );
  await lockLinkedVolumes(
    tx,
    candidates.map(({ order }) => ({ ...order, links: order.launch.volume_links })),
  );
}

type Placed = Place & { readonly candidate: Candidate };
type Accepted = Placed & { readonly holdId: HoldId };

function placeAll(book: DeviceBook, candidates: readonly Candidate[]) {
  const placed: Placed[] = [];
  const refused = new Map<Candidate, AppError>();
  for (const candidate of candidates) {
    const place = book.place(candidate);
    if (place instanceof AppError) refused.set(candidate, place);
    else placed.push({ ...place, candidate });
  }
  return { placed, refused };
}

async function write(tx: Tx, allAccepted: readonly Accepted[], book: DeviceBook): Promise<void> {
  if (allAccepted.length === 0) return;
  const traffic = await readTrafficDefaults(
    tx.db,
    allAccepted.map(({ candidate }) => candidate.order.userId),
  );
  const accepted = allAccepted.map(({ candidate: { order, instance }, start, holdId }) => {
    // An instance that starts out stopped only proves that it could pay; nothing stays set aside until it is started.
    const keptId = order.target === "running" ? holdId : undefined;
    return { order, instance: { ...instance, ...start, holdId: keptId, traffic: trafficOf(order, instance, traffic) } };
  });
  const instances = accepted.map(({ instance }) => instance);
  const machineIds = [...new Set(instances.map((instance) => instance.machineId))];
  await insertInstances(tx, instances, (instance) => `user:${instance.userId}`);
  await insertInstanceKeys(
    tx,
    accepted.map(({ instance, order }) => ({
      userId: order.userId,
      instanceId: instance.id,
      sha256: order.instanceKey.sha256,
      prefix: order.instanceKey.prefix,
    })),
  );
  await copySshKeys(
    tx,
    instances.map(({ id, userId }) => ({ instanceId: id, userId })),
  );
  await tellCreated(tx, instances);
  await takeProxyPorts(tx, reachableByProxy(allAccepted));
  const started = instances.filter((instance) => instance.phase === "starting");
  await insertRuns(
    tx,
    started.map(({ id, generation }) => ({ instanceId: id, generation })),
  );
  const grants = started.flatMap((instance) => grantsOf(instance, book.given.get(instance.id) ?? []));
  await insertGpuGrants(tx, grants);
  for (const { instance, order } of accepted) {
    if (order.template !== undefined) await recordTemplateUse(tx, order.template.id, order.userId);
    const { volumeInfo, launch, userId, capScopes } = order;
    if (volumeInfo === undefined && launch.volume_links.length === 0) continue;
    const { machineId } = instance;
    const mounts = await planVolumeLink(tx, { userId, capScopes, machineId, volumeInfo, links: launch.volume_links });
    await attachVolumes(tx, instance.id, mounts);
    if (instance.phase !== "stopped") await requireSoleWriter(tx, instance.id);
  }
  await alignOffers(tx, statesAfter(allAccepted, grants), book.retired);
  if (book.contested.size > 0) {
    await reschedule(tx, [...book.contested]);
    await refreshOffers(tx, [...book.contested]);
  }
  const stopped = allAccepted.filter(({ candidate }) => candidate.order.target === "stopped");
  await releaseHolds(
    tx,
    stopped.map(({ holdId }) => holdId),
  );
  await notifyDesired(tx, machineIds);
}

/** Instances that get proxy ports: those with the platform script (any mode but `args`), on hosts with real containers. */
function reachableByProxy(accepted: readonly Accepted[]): readonly InstanceId[] {
  return accepted
    .filter(({ candidate }) => candidate.instance.launch.runtype.mode !== "args")
    .filter(({ candidate }) => candidate.state.machine.engineKind !== "simulated")
    .map(({ candidate }) => candidate.instance.id);
}

/** The machines of these rentals after all of them have their devices. */
function statesAfter(accepted: readonly Accepted[], given: readonly NewGpuGrant[]): readonly MachineState[] {
  const grants = Map.groupBy(given, (grant) => grant.machineId);
  const states = new Map(accepted.map(({ candidate: { state } }) => [state.machine.id, state]));
  return [...states].map(([id, state]) => ({ ...state, grants: [...state.grants, ...(grants.get(id) ?? [])] }));
}
