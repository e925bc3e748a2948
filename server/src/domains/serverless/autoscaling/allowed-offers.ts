import type { MachinesFor } from "../../rental/instances/for-serverless.ts";
import type { Decision, OfferView } from "./rules/types.ts";
import type { EndpointMemory, GroupWish } from "../routing/endpoint-memory.ts";
import { offerSearch, type FoundOffer } from "./wish-service.ts";
import type { WorkerGroup } from "../worker-groups/worker-group.ts";

type Search = (query: Readonly<Record<string, unknown>>) => readonly FoundOffer[];

/** Offers of machines whose hosts allow the registry of the group's image; other hosts would refuse the image. */
export function allowedOffers(
  offers: readonly OfferView[],
  machinesFor: MachinesFor | undefined,
): readonly OfferView[] {
  return machinesFor === undefined ? offers : offers.filter(({ machineId }) => machinesFor.machineIds.has(machineId));
}

/** Adds to a decision that finds no offer that offers exist, but their hosts do not allow the image of the group. */
export function explainRegistries(
  decision: Decision,
  groups: readonly WorkerGroup[],
  { memory, search }: { readonly memory: EndpointMemory; readonly search: Search },
): Decision {
  if (decision.reason !== "no_offers") return decision;
  const barred = groups.flatMap(({ id }) => {
    const wish = memory.wishes.get(id);
    const registry = wish?.machinesFor?.registry;
    if (wish === undefined || registry === undefined || !isOfferedElsewhere(wish, search)) return [];
    return [
      ` The image of worker group ${id} is in ${registry}, a registry in a private network, and no host with a matching offer allows it: such an offer is refused with private_registry.`,
    ];
  });
  if (barred.length === 0) return decision;
  return { ...decision, reason: "private_registry", sentence: `${decision.sentence}${barred.join("")}` };
}

/** True if an offer matches on a machine whose host does not allow the image. */
function isOfferedElsewhere(wish: GroupWish, search: Search): boolean {
  const { private_registries: _, ...query } = offerSearch(wish);
  return search(query).some(({ machine_id: machineId }) => {
    const ids: ReadonlySet<number> = wish.machinesFor?.machineIds ?? new Set();
    return !ids.has(machineId);
  });
}
