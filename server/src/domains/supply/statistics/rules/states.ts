import type { Point } from "./countries.ts";

// Centres of states of large countries, by name and by abbreviation: whole degrees, north and east positive.
const STATES: Readonly<Record<string, string>> = {
  US:
    "Alabama AL 33 -87, Alaska AK 64 -152, Arizona AZ 34 -112, Arkansas AR 35 -92, California CA 37 -120, " +
    "Colorado CO 39 -106, Connecticut CT 42 -73, Delaware DE 39 -75, District of Columbia DC 39 -77, Florida FL 28 -82, " +
    "Georgia GA 33 -83, Hawaii HI 20 -156, Idaho ID 44 -115, Illinois IL 40 -89, Indiana IN 40 -86, Iowa IA 42 -94, " +
    "Kansas KS 38 -98, Kentucky KY 38 -85, Louisiana LA 31 -92, Maine ME 45 -69, Maryland MD 39 -77, " +
    "Massachusetts MA 42 -72, Michigan MI 44 -85, Minnesota MN 46 -94, Mississippi MS 33 -90, Missouri MO 38 -92, " +
    "Montana MT 47 -110, Nebraska NE 42 -100, Nevada NV 39 -117, New Hampshire NH 44 -72, New Jersey NJ 40 -75, " +
    "New Mexico NM 34 -106, New York NY 43 -76, North Carolina NC 36 -79, North Dakota ND 47 -100, Ohio OH 40 -83, " +
    "Oklahoma OK 36 -98, Oregon OR 44 -121, Pennsylvania PA 41 -78, Rhode Island RI 42 -72, South Carolina SC 34 -81, " +
    "South Dakota SD 44 -100, Tennessee TN 36 -86, Texas TX 31 -99, Utah UT 39 -112, Vermont VT 44 -73, " +
    "Virginia VA 38 -79, Washington WA 47 -120, West Virginia WV 39 -81, Wisconsin WI 45 -90, Wyoming WY 43 -108",
  CA:
    "Alberta AB 55 -115, British Columbia BC 55 -125, Manitoba MB 55 -97, New Brunswick NB 47 -66, " +
    "Newfoundland and Labrador NL 53 -60, Nova Scotia NS 45 -63, Northwest Territories NT 65 -119, Nunavut NU 70 -95, " +
    "Ontario ON 50 -86, Prince Edward Island PE 46 -63, Quebec QC 53 -72, Saskatchewan SK 54 -106, Yukon YT 63 -135",
  AU:
    "New South Wales NSW -32 147, Victoria VIC -37 145, Queensland QLD -22 144, Western Australia WA -26 122, " +
    "South Australia SA -30 135, Tasmania TAS -42 147, Northern Territory NT -20 133, " +
    "Australian Capital Territory ACT -35 149",
};

const middles = new Map(
  Object.entries(STATES).flatMap(([country, text]) =>
    Array.from(
      text.matchAll(/([A-Za-z ]+) ([A-Z]{2,3}) (-?\d+) (-?\d+)/g),
      ([, name = "", code = "", latitude, longitude]) => {
        const middle = { latitude: Number(latitude), longitude: Number(longitude) };
        return [name.trim(), code].map((word): readonly [string, Point] => [keyOf(country, word), middle]);
      },
    ).flat(),
  ),
);

/** The centre of a state by the last word of a place in its country: `Texas`, or `Austin, TX`. */
export function middleOfState(countryCode: string, place: string): Point | undefined {
  return middles.get(keyOf(countryCode, place.slice(place.lastIndexOf(",") + 1)));
}

function keyOf(country: string, word: string): string {
  return `${country} ${word.trim().toLowerCase()}`;
}
