import { AppError, gone, insufficientFunds, invalid, notFound } from "../../base/errors.ts";
import { asId, type InstanceId, type MachineId, type OfferId, type TemplateId, type UserId } from "../../base/ids.ts";
import { formatDollars, nanos, type Nanos } from "../../base/money.ts";
import type { Tx } from "../../db/transaction.ts";
import { claimKey, releaseKey, storeResponse } from "../../http/idempotency-store.ts";
import { keyReused, type Repeatable } from "../../http/idempotency.ts";
import { insertInstanceKeys } from "../accounts/index.ts";
import { lockMachines } from "../hosts/index.ts";
import { placeHolds, releaseHolds, type HoldId } from "../ledger/index.ts";
import {
  availableCount,
  findOffers,
  freeDevices,
  insertLeases,
  isOpen,
  minBidNanos,
  readMachineStates,
  refreshOffers,
  retireOffers,
  type MachineState,
} from "../market/index.ts";
import { recordTemplateUse, type LaunchSettings } from "../templates/index.ts";
import { attachVolumes, planVolumeLink, type VolumeInfo } from "../volumes/index.ts";
import { holdAmount } from "./pricing.ts";
import { insertInstances, insertRuns, notifyDesired, listClaims, type NewInstance } from "./store.ts";
import { leasesOf, reschedule } from "./transitions.ts";

/** One order for an instance. Everything that needs no lock was read and checked before. */
export type CreateOrder = {
  readonly instanceId: InstanceId;
  readonly userId: UserId;
  readonly offerId: number;
  readonly launch: LaunchSettings;
  readonly template: { readonly id: TemplateId; readonly hashId: string } | undefined;
  readonly volumeInfo: VolumeInfo | undefined;
  /** A price makes it interruptible: the bid for the whole rental. */
  readonly bidNanosPerHour: Nanos | undefined;
  readonly target: "running" | "stopped";
  /** Whether an order that cannot run now is refused instead of waiting. */
  readonly isRefusedUnlessRunning: boolean;
  readonly instanceKey: { readonly secret: string; readonly sha256: Buffer; readonly prefix: string };
  readonly repeatable: Repeatable | undefined;
};

export type CreateAnswer = {
  readonly success: true;
  readonly new_contract: number;
  readonly instance_api_key: string;
  readonly ask_id: number;
  /** Why it waits instead of running; absent when it runs. */
  readonly waiting?: string;
};

export type CreateOutcome = CreateAnswer | AppError;

const BYTES_PER_GB = 1_000_000_000;

type Candidate = {
  readonly order: CreateOrder;
  readonly instance: NewInstance;
  readonly state: MachineState;
};

/**
 * Rents a batch of offers in one transaction: one durable write for all of them. An order that cannot be served is
 * answered with its error and leaves nothing behind; the others go through.
 */
export async function createInstances(tx: Tx, orders: readonly CreateOrder[]): Promise<readonly CreateOutcome[]> {
  const outcomes = new Map<CreateOrder, CreateOutcome>();
  const fresh: CreateOrder[] = [];
  for (const order of orders) {
    const earlier = order.repeatable && (await repeatAnswer(tx, order.repeatable));
    if (earlier === undefined) fresh.push(order);
    else outcomes.set(order, earlier);
  }
  const offers = await findOffers(
    tx.db,
    fresh.map((order) => asId<OfferId>(lookupId(order.offerId))),
  );
  const machineIds = [...new Set([...offers.values()].map((offer) => offer.machineId))].toSorted((a, b) => a - b);
  await lockMachines(tx, machineIds);
  const states = await readMachineStates(tx, machineIds);
  const candidates: Candidate[] = [];
  for (const order of fresh) {
    const offer = offers.get(asId<OfferId>(lookupId(order.offerId)));
    const state = offer && states.get(offer.machineId);
    const candidate = state === undefined ? noSuchAsk(order.offerId) : assess(tx.now, order, state);
    if (candidate instanceof AppError) outcomes.set(order, candidate);
    else candidates.push(candidate);
  }
  await rent(tx, candidates, outcomes);
  await storeAnswers(tx, fresh, outcomes);
  return orders.map(
    (order) => outcomes.get(order) ?? new AppError("internal", "internal_error", "The order was lost."),
  );
}

/** Ids beyond what a row can have name nothing. */
function lookupId(id: number): number {
  return Number.isInteger(id) && id > 0 && id <= 2_147_483_647 ? id : 0;
}

async function repeatAnswer(tx: Tx, repeatable: Repeatable): Promise<CreateOutcome | undefined> {
  const earlier = await claimKey(tx, repeatable);
  if (earlier === "claimed") return undefined;
  if (!earlier.requestSha256.equals(repeatable.requestSha256)) return keyReused();
  return repeatable.open(earlier.response) as CreateAnswer;
}

async function storeAnswers(
  tx: Tx,
  orders: readonly CreateOrder[],
  outcomes: ReadonlyMap<CreateOrder, CreateOutcome>,
): Promise<void> {
  for (const order of orders) {
    const outcome = outcomes.get(order);
    if (order.repeatable === undefined || outcome === undefined) continue;
    if (outcome instanceof AppError) await releaseKey(tx, order.repeatable);
    else await storeResponse(tx, order.repeatable, order.repeatable.seal(outcome));
  }
}

/** What an order would make of its offer, or why it cannot. */
function assess(now: Date, order: CreateOrder, state: MachineState): Candidate | AppError {
  const { machine } = state;
  const offer = state.offers.find((live) => live.id === order.offerId);
  if (offer === undefined || !isOpen(machine, now)) return askIsGone(order.offerId);
  const { bidNanosPerHour, launch } = order;
  const share = offer.deviceCount / Math.max(1, machine.devices.length);
  const diskGbMax = (machine.facts.disk_bytes / BYTES_PER_GB) * share;
  if (launch.disk_gb > diskGbMax) {
    const most = Math.floor(diskGbMax);
    return invalid("disk", `disk is ${launch.disk_gb} GB, but this offer has ${most} GB`, "invalid_args", {
      extra: { ask_id: order.offerId },
    });
  }
  const priceNanosPerHour = bidNanosPerHour ?? nanos(machine.priceDeviceNanosPerHour * BigInt(offer.deviceCount));
  return {
    order,
    state,
    instance: {
      id: order.instanceId,
      userId: order.userId,
      machineId: machine.id,
      offerId: offer.id,
      templateId: order.template?.id,
      templateHashId: order.template?.hashId,
      label: launch.label ?? undefined,
      isBid: bidNanosPerHour !== undefined,
      priceNanosPerHour,
      storageNanosPerGbMonth: machine.priceDiskNanosPerGbMonth,
      inetUpNanosPerGb: machine.priceInetUpNanosPerGb,
      inetDownNanosPerGb: machine.priceInetDownNanosPerGb,
      deviceCount: offer.deviceCount,
      diskBytes: BigInt(Math.round(launch.disk_gb * BYTES_PER_GB)),
      launch,
      desired: order.target,
      phase: order.target === "running" ? "scheduled" : "stopped",
      phaseCause: "created",
      generation: 0,
      holdId: undefined,
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
  const claims = Map.groupBy(await listClaims(tx, machineIds), (claim) => claim.machineId);
  const busy = new Set(machineIds.filter((id) => (claims.get(id) ?? []).some((claim) => claim.phase === "scheduled")));
  const holds = await placeHolds(
    tx,
    candidates.map(({ order, instance }) => ({
      userId: order.userId,
      amount: holdAmount(instance),
      cause: { instance_id: instance.id },
    })),
  );
  const book = new Book(busy);
  const accepted: { candidate: Candidate; instance: NewInstance; waiting: string | undefined }[] = [];
  const unusedHolds: HoldId[] = [];
  candidates.forEach((candidate, index) => {
    const hold = holds[index];
    if (hold?.kind !== "placed") {
      outcomes.set(candidate.order, notEnoughCredit(candidate, hold?.shortfallNanos ?? 0n));
      return;
    }
    const place = book.place(candidate);
    if (place instanceof AppError) {
      outcomes.set(candidate.order, place);
      unusedHolds.push(hold.holdId);
      return;
    }
    const isRunning = candidate.order.target === "running";
    if (!isRunning) unusedHolds.push(hold.holdId);
    const holdId = isRunning ? hold.holdId : undefined;
    accepted.push({ candidate, instance: { ...candidate.instance, ...place.start, holdId }, waiting: place.waiting });
  });
  await write(
    tx,
    accepted.map(({ instance, candidate }) => ({ instance, order: candidate.order })),
    book,
  );
  if (unusedHolds.length > 0) await releaseHolds(tx, unusedHolds);
  for (const { candidate, instance, waiting } of accepted) {
    outcomes.set(candidate.order, {
      success: true,
      new_contract: instance.id,
      instance_api_key: candidate.order.instanceKey.secret,
      ask_id: instance.offerId,
      ...(waiting === undefined ? {} : { waiting }),
    });
  }
}

/** The devices and offers of the machines of one batch, as its orders use them up one after the other. */
class Book {
  readonly given = new Map<InstanceId, readonly ReturnType<typeof freeDevices>[number][]>();
  readonly retired = new Set<OfferId>();
  /** Machines whose schedule has to decide: somebody waits there, or a bid has to leave. */
  readonly contested = new Set<MachineId>();
  private readonly free = new Map<MachineId, ReturnType<typeof freeDevices>[number][]>();
  private readonly available = new Map<MachineId, number>();
  private readonly busy: ReadonlySet<MachineId>;

  constructor(busy: ReadonlySet<MachineId>) {
    this.busy = busy;
  }

  /** Takes the offer for an order, and its devices when they are free; or says why it cannot. */
  place({
    order,
    instance,
    state,
  }: Candidate): { start: Partial<NewInstance>; waiting: string | undefined } | AppError {
    const { machineId, deviceCount, isBid } = instance;
    if (this.retired.has(instance.offerId)) return askIsGone(order.offerId);
    const free = this.free.get(machineId) ?? [...freeDevices(state)];
    const available = this.available.get(machineId) ?? availableCount(state);
    this.free.set(machineId, free);
    if (deviceCount > available) return askIsGone(order.offerId);
    const floor = minBidNanos(state, { deviceCount });
    const isTooLow = isBid && instance.priceNanosPerHour < floor;
    if (isTooLow && order.isRefusedUnlessRunning) return bidTooLow(order.offerId, floor);
    this.retired.add(instance.offerId);
    if (!isBid) this.available.set(machineId, available - deviceCount);
    if (order.target === "stopped") return { start: {}, waiting: undefined };
    if (this.busy.has(machineId) || isTooLow || deviceCount > free.length) {
      this.contested.add(machineId);
      const waiting = isTooLow ? `The bid is below ${formatDollars(floor)} $/h, which would run now.` : undefined;
      return { start: {}, waiting };
    }
    this.given.set(instance.id, free.splice(0, deviceCount));
    return { start: { phase: "starting", generation: 1 }, waiting: undefined };
  }
}

async function write(
  tx: Tx,
  accepted: readonly { readonly instance: NewInstance; readonly order: CreateOrder }[],
  book: Book,
): Promise<void> {
  if (accepted.length === 0) return;
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
  const started = instances.filter((instance) => instance.phase === "starting");
  await insertRuns(
    tx,
    started.map(({ id, generation }) => ({ instanceId: id, generation })),
  );
  await insertLeases(
    tx,
    started.flatMap((instance) => leasesOf(instance, book.given.get(instance.id) ?? [])),
  );
  for (const { instance, order } of accepted) {
    if (order.template !== undefined) await recordTemplateUse(tx, order.template.id);
    const { volumeInfo, launch, userId } = order;
    if (volumeInfo === undefined && launch.volume_links.length === 0) continue;
    const { machineId } = instance;
    const mounts = await planVolumeLink(tx, { userId, machineId, volumeInfo, links: launch.volume_links });
    await attachVolumes(tx, instance.id, mounts);
  }
  await retireOffers(tx, [...book.retired]);
  if (book.contested.size > 0) await reschedule(tx, [...book.contested]);
  await refreshOffers(tx, machineIds);
  await notifyDesired(tx, machineIds);
}

/** Why an order got nothing; each names the offer it was for. */
function noSuchAsk(offerId: number): AppError {
  return notFound("invalid_args", `error 404/3603: no_such_ask Instance type by id ${offerId} is not available.`, {
    extra: { ask_id: offerId },
  });
}

function askIsGone(offerId: number): AppError {
  return gone("no_such_ask", `Offer ${offerId} is no longer available.`, { extra: { ask_id: offerId } });
}

function bidTooLow(offerId: number, needed: bigint): AppError {
  return gone("no_such_ask", `A bid needs at least ${formatDollars(needed)} $/h to run now.`, {
    extra: { ask_id: offerId },
  });
}

function notEnoughCredit({ order, instance }: Candidate, shortfall: bigint): AppError {
  const needed = formatDollars(holdAmount(instance));
  const missing = formatDollars(shortfall);
  return insufficientFunds(`Not enough credit: this rental needs ${needed} $ set aside, ${missing} $ are missing.`, {
    extra: { ask_id: order.offerId, shortfall: Number(missing) },
  });
}
