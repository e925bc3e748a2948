// Actions of administrators by hand, and of hosts with the keys that they can read: nobody gains by either.
import { describe, test } from "node:test";
import { joinsAt, looks, MINUTE_MS, pays, rents, tellerOfStories } from "./cheats/lines.ts";

describe("a market of cheats and administrators", () => {
  const told = tellerOfStories();

  test("a refund that is spent before the bank tells of it makes nobody richer", () =>
    told(
      joinsAt({}),
      pays("Ada", 5),
      looks("Ada"),
      ["refund", { who: "Ada", part: 1 }],
      rents("Ada"),
      70 * MINUTE_MS,
      ["tellRefund", { who: "Ada" }],
      5 * MINUTE_MS,
    ));

  test("money that administrators take back, correct and hold is booked once, and paid to nobody", () =>
    told(
      joinsAt({ gpu: 20 }),
      pays("Ada", 100),
      looks("Ada"),
      rents("Ada"),
      70 * MINUTE_MS,
      ["takeBack", { who: "Hugo", amount: 1 }],
      ["correct", { who: "Ada", side: "credit", amount: 20 }],
      ["correct", { who: "Hugo", side: "earnings", amount: -0.5 }],
      ["refund", { who: "Ada", part: 0.5 }],
      ["tellRefund", { who: "Ada" }],
      70 * MINUTE_MS,
      ["holdPayouts", { who: "Hugo" }],
    ));

  test("earnings of granted credit are paid as far as an administrator releases them", () =>
    told(
      joinsAt({ gpu: 20 }),
      ["grant", { who: "Ada", amount: 100 }],
      looks("Ada"),
      rents("Ada", 2),
      70 * MINUTE_MS,
      ["releaseEarnings", { who: "Hugo" }],
      70 * MINUTE_MS,
    ));

  test("the key inside a container starts, ends and raises nothing that its renter has settled", () =>
    told(
      joinsAt({ gpu: 0.3 }),
      pays("Ada", 100),
      looks("Ada"),
      rents("Ada"),
      ["innerStop", { rental: "#4" }],
      ["innerStart", { rental: "#4" }],
      ["stop", { rental: "#4" }],
      ["innerStart", { rental: "#4" }],
      ["start", { rental: "#4" }],
      ["capInstance", { rental: "#4", limit: 0 }],
      MINUTE_MS,
      ["innerLimits", { rental: "#4" }],
      ["innerStart", { rental: "#4" }],
      ["capInstance", { rental: "#4", limit: 50 }],
      ["innerStart", { rental: "#4" }],
      ["start", { rental: "#4" }],
      ["prepay", { rental: "#4", amount: 10 }],
      ["innerStop", { rental: "#4" }],
      ["innerDestroy", { rental: "#4" }],
      5 * MINUTE_MS,
    ));
});
