// Volumes and space for volumes, as their page asks for them.
import {
  networkVolumeRent,
  networkVolumeSearch,
  volumeList,
  volumeRent,
  volumeSearch,
  type CallOptions,
  type Client,
  type NewVolume,
  type Volume,
  type VolumeRental,
} from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";

export const volumesQuery = ask("volume.list", volumeList, { query: { type: "all_volume" } });

const SPACE_MAX = 200;

type SpaceSearch = { readonly isNetwork: boolean; readonly sizeGb: number };

/** Offers with room for a volume of this size, the cheapest first. */
export function spaceQuery({ isNetwork, sizeGb }: SpaceSearch) {
  const order = [["storage_cost", "asc"]];
  const body = { q: { disk_space: { gte: sizeGb } }, order, limit: SPACE_MAX, allocated_storage: sizeGb };
  return isNetwork
    ? ask("volume.network_space", networkVolumeSearch, { body })
    : ask("volume.space", volumeSearch, { body });
}

export type RentSpace = { readonly isNetwork: boolean; readonly body: VolumeRental };

export function rentSpace(client: Client, { isNetwork, body }: RentSpace, options?: CallOptions): Promise<NewVolume> {
  return isNetwork ? networkVolumeRent(client, { body }, options) : volumeRent(client, { body }, options);
}

/** `local, machine 12`, or `network, several machines`. */
export function placeOf({ machine_id: machine, cluster_id: cluster }: Pick<Volume, "machine_id" | "cluster_id">) {
  if (cluster !== null) return `network disk of group ${cluster}`;
  return machine === null ? "unknown machine" : `machine ${machine}`;
}
