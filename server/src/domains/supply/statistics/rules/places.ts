import { middleOf } from "./countries.ts";
import type { Counted } from "./sample.ts";
import { middleOfState } from "./states.ts";

export type Place = {
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly city: string;
  readonly country_code: string;
  readonly gpu_name: string;
  readonly rented: boolean;
  readonly state: "rented" | "available" | "unavailable";
  readonly verified: boolean;
  readonly datacenter: boolean;
  readonly num_gpus: number;
};

/**
 * Locations of the GPUs: one row for all GPUs of one kind in one place and state. No row tells single machines
 * apart.
 */
export function placesOf(counted: readonly Counted[]): readonly Place[] {
  const places = new Map<string, Place>();
  for (const { machine, rentedCount, availableCount, unavailableCount } of counted) {
    for (const [state, count] of [
      ["rented", rentedCount],
      ["available", availableCount],
      ["unavailable", unavailableCount],
    ] as const) {
      if (count === 0) continue;
      const place = placeOf(machine.geolocation);
      const { gpuName, isVerified, hostingType } = machine;
      const key = JSON.stringify([place.city, place.country_code, gpuName, state, isVerified, hostingType]);
      const known = places.get(key)?.num_gpus ?? 0;
      const group = { rented: state === "rented", state, verified: isVerified, datacenter: hostingType === 1 };
      places.set(key, { ...place, gpu_name: gpuName, ...group, num_gpus: known + count });
    }
  }
  return [...places.values()];
}

/** `Oslo, NO`: hosts name a city or a state, and the country. */
function placeOf(geolocation: string) {
  const countryCode = /,\s*([A-Za-z]{2})\s*$/.exec(geolocation)?.[1]?.toUpperCase() ?? "";
  const city = geolocation.slice(0, Math.max(0, geolocation.lastIndexOf(","))).trim();
  const middle = middleOfState(countryCode, city) ?? middleOf(countryCode);
  return {
    latitude: middle?.latitude ?? null,
    longitude: middle?.longitude ?? null,
    city,
    country_code: countryCode,
  };
}
