import { AppError } from "../../../base/errors.ts";
import { priceFound } from "../../../base/hourly-price.ts";
import { asId, type MachineId, type OfferId, type WorkerGroupId } from "../../../base/ids.ts";
import { nanos } from "../../../base/money.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Reader } from "../../../db/transaction.ts";
import { findMachinesFor } from "../../rental/instances/for-serverless.ts";
import type { OrderDesk, Wish } from "../../rental/instances/index.ts";
import type { PricedOffer } from "../../supply/market/for-serverless.ts";
import type { OfferView } from "./rules/types.ts";
import { findDeploymentOfGroup } from "../deployments/deployment-store.ts";
import type { GroupWish } from "../routing/endpoint-memory.ts";
import { launchBodyOf, searchQueryOf, type SearchQuery, type WorkerGroup } from "../worker-groups/worker-group.ts";
import { openRecipe } from "../worker-groups/encrypted-recipe.ts";
import { workerLaunch } from "../workers/worker-launch.ts";

/** The fields of a found offer that decide here. Dollars, GB. */
export type FoundOffer = PricedOffer & {
  readonly id: number;
  readonly machine_id: number;
  readonly reliability: number;
};

export type WishPorts = {
  readonly desk: Pick<OrderDesk, "wishOf">;
  readonly encryption: Encryption;
  /** The address to which workers report; undefined where the agents of their hosts provide it. */
  readonly reportAddress: string | undefined;
};

/** The settings to rent a worker of the group with now, in its owner's name, or the reason why it cannot be rented. */
export async function readWish(
  db: Reader,
  group: WorkerGroup,
  { desk, encryption, reportAddress }: WishPorts,
  nowMs: number,
): Promise<GroupWish | AppError> {
  try {
    const opened = openRecipe(group, encryption);
    const made = await desk.wishOf(db, group, launchBodyOf(group, opened));
    const { id: groupId, endpointGroupId: endpointId } = group;
    const deploymentId = await findDeploymentOfGroup(db, groupId);
    const wish: Wish = {
      ...made,
      capScopes: [...made.capScopes, `endpoint:${endpointId}`],
      launch: workerLaunch(made.launch, { endpointId, groupId, deploymentId, reportAddress }),
      target: "running",
      // A queued instance serves no request.
      isRefusedUnlessRunning: true,
    };
    const query = searchQueryOf({ group, launchArgs: opened.launchArgs }, made.launch.extra_filters);
    const machinesFor = await findMachinesFor(db, wish.launch.image);
    return {
      generation: group.generation,
      searchParams: group.searchParams,
      wish,
      // Few of the many matching machines may allow the registry: without this condition the best hundred could all
      // refuse.
      query: machinesFor === undefined ? query : { private_registries: { eq: true }, ...query },
      machinesFor,
      readAtMs: nowMs,
    };
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

/** The number of best offers that a decision chooses from. */
const OFFERS_MAX = 100;

/**
 * The group's search for offers: those with the most performance for their price come first, unless the owner sorts
 * otherwise.
 */
export function offerSearch({ query, wish }: Pick<GroupWish, "query" | "wish">): SearchQuery {
  return {
    ...query,
    order: query["order"] ?? [["dlperf_per_dphtotal", "desc"]],
    allocated_storage: wish.launch.disk_gb,
    limit: OFFERS_MAX,
  };
}

/** Found offers as the rules see them. A bid pays its own price. */
export function offerView(groupId: WorkerGroupId, { wish }: Pick<GroupWish, "wish">, found: FoundOffer): OfferView[] {
  const total = priceFound(found, wish.launch.disk_gb);
  const disk = priceFound({ ...found, dph_base: 0 }, wish.launch.disk_gb);
  if (total === undefined || disk === undefined) return [];
  const { bidNanosPerHour: bid } = wish;
  return [
    {
      offerId: asId<OfferId>(found.id),
      groupId,
      machineId: asId<MachineId>(found.machine_id),
      dlperf: found.dlperf,
      priceNanosPerHour: bid === undefined ? total : nanos(bid + disk),
      coldPriceNanosPerHour: disk,
      reliability: found.reliability,
    },
  ];
}
