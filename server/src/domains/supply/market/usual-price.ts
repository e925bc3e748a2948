import { bytesOf, priceFound, storageNanosPerHour } from "../../../base/hourly-price.ts";
import { nanos, parseDollars, type Nanos } from "../../../base/money.ts";
import { USUAL_CORE_NANOS_PER_HOUR, USUAL_DISK_NANOS_PER_GB_MONTH, usualNanosPerHour } from "../hosts/for-market.ts";
import type { OfferRecord } from "./schema.ts";

/** The columns of an offer that its usual price follows from. Dollars, GB. */
export type PricedOffer = Pick<
  OfferRecord,
  "host_id" | "resource_type" | "gpu_name" | "num_gpus" | "dlperf" | "cpu_cores_effective" | "dph_base" | "storage_cost"
>;

/**
 * Number of hosts that make a market. Each host counts once, for any number of offers: to move the median, one person
 * needs as many accounts as there are honest hosts.
 */
const HOSTS_MIN = 3;

/**
 * Usual hourly price of these offers with a disk of this size: the median over their hosts of the median of each host's
 * offers. With fewer than three hosts their prices are not trusted, and each offer counts with the open market's price
 * for such hardware. With a bid the devices cost the bid. Undefined without offers.
 */
export function usualPrice(
  offers: readonly PricedOffer[],
  { diskGb, bidNanosPerHour }: { readonly diskGb: number; readonly bidNanosPerHour: Nanos | undefined },
): Nanos | undefined {
  const byHost = Map.groupBy(offers, (offer) => offer.host_id);
  const isThin = byHost.size < HOSTS_MIN;
  const priceOf = (offer: PricedOffer): bigint | undefined => {
    const disk = isThin ? usualDisk(diskGb) : priceFound({ ...offer, dph_base: 0 }, diskGb);
    const devices = bidNanosPerHour ?? (isThin ? usualDevices(offer) : parseDollars(offer.dph_base));
    return disk === undefined || devices === undefined ? undefined : devices + disk;
  };
  const voices = [...byHost.values()].flatMap((own) => median(own.flatMap((offer) => priceOf(offer) ?? [])) ?? []);
  const usual = median(voices);
  return usual === undefined ? undefined : nanos(usual);
}

function usualDevices(offer: PricedOffer): bigint {
  if (offer.resource_type === "cpu" || offer.num_gpus < 1) {
    return USUAL_CORE_NANOS_PER_HOUR * BigInt(Math.max(1, Math.round(offer.cpu_cores_effective)));
  }
  const gpu = { name: offer.gpu_name, dlperf: offer.dlperf / offer.num_gpus };
  return usualNanosPerHour(gpu) * BigInt(offer.num_gpus);
}

function usualDisk(diskGb: number): bigint {
  return storageNanosPerHour({ storageNanosPerGbMonth: USUAL_DISK_NANOS_PER_GB_MONTH, diskBytes: bytesOf(diskGb) });
}

/** The median; of two in the middle the upper one. */
function median(values: readonly bigint[]): bigint | undefined {
  const sorted = values.toSorted((a, b) => (a === b ? 0 : a < b ? -1 : 1));
  return sorted[Math.floor(sorted.length / 2)];
}
