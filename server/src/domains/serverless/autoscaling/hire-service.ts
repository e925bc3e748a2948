import { createHash } from "node:crypto";
import { AppError } from "../../../base/errors.ts";
import type { InstanceId } from "../../../base/ids.ts";
import { formatDollars, roundHalfUp, type Nanos } from "../../../base/money.ts";
import type { Tx } from "../../../db/transaction.ts";
import { createInstances, type CreateOrder, type OrderDesk } from "../../rental/instances/index.ts";
import type { Action, OfferView } from "./rules/types.ts";
import type { EndpointMemory } from "../routing/endpoint-memory.ts";
import { recordEvents, type NewEndpointEvent } from "./event-store.ts";
import { countWorkers, type EndpointGroup } from "../endpoints/store.ts";
import { insertHires, type Hire } from "../workers/store.ts";

export type Rent = Extract<Action, { kind: "rent" }>;

export type HirePorts = {
  readonly desk: Pick<OrderDesk, "orderFor">;
  /** The token by which a worker proves its identity. */
  readonly tokenOf: (instanceId: InstanceId) => string;
};

type Planned = { readonly rent: Rent; readonly order: CreateOrder; readonly generation: number; readonly price: Nanos };

/** How long a refused offer, or a group that cannot rent, is left alone. */
const REST_MS = 15_000;
/** After this time every server has read the effect of a rent on the market. */
const MARKET_LAG_MS = 1_000;
/** Prices are shown to a hundredth of a cent. */
const SHOWN_NANOS = 100_000n;

/**
 * Rents workers and stores their rows in one transaction, so that no worker is without a row. The caller holds the
 * endpoint's lock, so the limit of workers holds. A refusal is logged and tried again later.
 */
export async function hire(
  tx: Tx,
  {
    endpoint,
    rents,
    offers,
    memory,
  }: {
    readonly endpoint: EndpointGroup;
    readonly rents: readonly Rent[];
    readonly offers: readonly OfferView[];
    readonly memory: EndpointMemory;
  },
  { desk, tokenOf }: HirePorts,
): Promise<readonly Hire[]> {
  // Most decisions rent nothing.
  if (rents.length === 0) return [];
  const free = endpoint.maxWorkers - (await countWorkers(tx.db, endpoint.id));
  const planned: Planned[] = [];
  for (const rent of rents.slice(0, Math.max(0, free))) {
    const known = memory.wishes.get(rent.groupId);
    const offer = offers.find((one) => one.offerId === rent.offerId && one.groupId === rent.groupId);
    if (known === undefined || offer === undefined) continue;
    const { wish, generation } = known;
    const price = offer.priceNanosPerHour;
    // The price may have risen since the choice: the order refuses a price above the one that was chosen.
    const order = await desk.orderFor(wish, rent.offerId, { totalMaxNanosPerHour: price });
    planned.push({ rent, generation, price, order });
  }
  if (planned.length === 0) return [];
  const outcomes = await createInstances(
    tx,
    planned.map(({ order }) => order),
  );
  const hires: Hire[] = [];
  const events: NewEndpointEvent[] = [];
  planned.forEach((one, index) => {
    const outcome = outcomes[index];
    if (outcome instanceof AppError) events.push(...refuse(tx, endpoint, one, outcome, memory));
    else {
      hires.push(toHire(endpoint, one, tokenOf));
      events.push(hiredEvent(endpoint, one));
    }
  });
  await insertHires(tx, hires);
  await recordEvents(tx, oncePerSentence(events));
  if (hires.length > 0) tx.afterCommit(() => keepInMind(hires, memory, tx.now.getTime()));
  return hires;
}

/** Leaves these machines alone until the market here knows what they still offer, and then searches again. */
function keepInMind(hires: readonly Hire[], memory: EndpointMemory, nowMs: number): void {
  memory.resumeSpending();
  memory.found.clear();
  for (const { machineId } of hires) memory.restingMachines.add(machineId, { nowMs, forMs: MARKET_LAG_MS });
}

/** One cause often refuses all rents of a decision: each sentence is logged once. */
function oncePerSentence(events: readonly NewEndpointEvent[]): readonly NewEndpointEvent[] {
  const seen = new Set<unknown>();
  return events.filter(({ detail, instanceId }) => {
    const cause = instanceId ?? detail?.["code"];
    const isNew = !seen.has(cause);
    seen.add(cause);
    return isNew;
  });
}

function toHire(endpoint: EndpointGroup, { rent, order, generation }: Planned, tokenOf: HirePorts["tokenOf"]): Hire {
  return {
    instanceId: order.instanceId,
    endpointGroupId: endpoint.id,
    workerGroupId: rent.groupId,
    machineId: rent.machineId,
    generation,
    tokenSha256: createHash("sha256").update(tokenOf(order.instanceId)).digest(),
  };
}

function hiredEvent({ id }: EndpointGroup, { rent, order, price }: Planned): NewEndpointEvent {
  return {
    endpointGroupId: id,
    workerGroupId: rent.groupId,
    instanceId: order.instanceId,
    kind: "worker",
    level: 1,
    sentence: `Worker ${order.instanceId} is rented on machine ${rent.machineId} for $${formatDollars(roundHalfUp(price, SHOWN_NANOS))} an hour: ${rent.why}.`,
    detail: { machine_id: rent.machineId, offer_id: rent.offerId },
  };
}

/**
 * Records a refused rent; its error decides whether the machine, the group or the account is left alone for a while.
 */
function refuse(
  tx: Tx,
  endpoint: EndpointGroup,
  { rent }: Planned,
  error: AppError,
  memory: EndpointMemory,
): readonly NewEndpointEvent[] {
  const nowMs = tx.now.getTime();
  // No other offer helps an account without credit or at its limit of instances.
  const isOfAccount = error.kind === "insufficient_funds" || error.code === "too_many";
  tx.afterCommit(() => {
    memory.found.delete(rent.groupId);
    if (isOfAccount) memory.stopSpending(nowMs, error.publicMessage);
    else if (error.kind === "gone" || error.extra["ask_id"] === rent.offerId) {
      memory.restingMachines.add(rent.machineId, { nowMs, forMs: REST_MS });
    } else memory.restingGroups.add(rent.groupId, { nowMs, forMs: REST_MS });
  });
  const sentence = `No worker could be rented on machine ${rent.machineId}: ${error.publicMessage}`;
  const about = { endpointGroupId: endpoint.id, workerGroupId: rent.groupId, kind: "worker" as const };
  return [{ ...about, level: isOfAccount ? 0 : 2, sentence, detail: { code: error.code } }];
}
