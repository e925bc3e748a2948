import assert from "node:assert/strict";
import { test } from "node:test";
import { middleOf } from "./rules/countries.ts";
import { placesOf } from "./rules/places.ts";
import { middleOfState } from "./rules/states.ts";

/** The points of one GPU at each of these places. */
function pointsAt(...geolocations: readonly string[]) {
  const counted = geolocations.map((geolocation) => ({
    machine: { geolocation, gpuName: "L4", isVerified: true, hostingType: 0 },
    rentedCount: 0,
    availableCount: 1,
    unavailableCount: 0,
  }));
  return placesOf(counted as unknown as Parameters<typeof placesOf>[0]).map(({ latitude, longitude }) => [
    latitude,
    longitude,
  ]);
}

test("a place that names a state of a large country has the state's middle, any other the country's", () => {
  assert.deepEqual(pointsAt("Texas, US", "Austin, TX, US", "quebec, CA", "Sydney, New South Wales, AU"), [
    [31, -99],
    [31, -99],
    [53, -72],
    [-32, 147],
  ]);
  const { latitude, longitude } = middleOf("US") ?? {};
  assert.deepEqual(pointsAt("Springfield, US", ", US", "Quebec, US"), [
    [latitude, longitude],
    [latitude, longitude],
    [latitude, longitude],
  ]);
});

test("letters that stand for states of several countries are told apart by the country", () => {
  assert.deepEqual(middleOfState("US", "WA"), { latitude: 47, longitude: -120 });
  assert.deepEqual(middleOfState("AU", "WA"), { latitude: -26, longitude: 122 });
  assert.equal(middleOfState("DE", "WA"), undefined);
  for (const name of ["Virginia", "West Virginia", "Kansas", "Arkansas", "District of Columbia"]) {
    assert.ok(middleOfState("US", name), name);
  }
});
