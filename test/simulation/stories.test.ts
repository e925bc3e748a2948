// The ways in which a market was once cheated, one story each: what is told here happens, and nobody gains by it.
import { describe, test } from "node:test";
import {
  HOUR_MS,
  joinsAt,
  looks,
  MINUTE_MS,
  pays,
  relistsAt,
  rents,
  SECOND_MS,
  tellerOfStories,
} from "./cheats/lines.ts";

describe("a market of cheats", () => {
  const told = tellerOfStories();

  test("without cheats, work is paid to the dust", () =>
    told(
      joinsAt({ traffic: 0.1 }),
      pays("Ada", 100),
      looks("Ada"),
      rents("Ada"),
      ["moveBytes", { rental: "#4", gigabytes: 5 }],
      20 * MINUTE_MS,
      ["stop", { rental: "#4" }],
      70 * MINUTE_MS,
      ["start", { rental: "#4" }],
      45 * SECOND_MS,
      ["destroy", { rental: "#4" }],
    ));

  test("a host that invents running time earns nothing by it", () =>
    told(
      joinsAt({}),
      pays("Ada", 100),
      looks("Ada"),
      rents("Ada"),
      5 * MINUTE_MS,
      ["inventTime", { rental: "#4", minutes: 10_000 }],
      5 * MINUTE_MS,
    ));

  test("a cap that is set late leaves nothing unpaid that was used before it", () =>
    told(
      joinsAt({}),
      pays("Ada", 100),
      looks("Ada"),
      rents("Ada"),
      20 * MINUTE_MS,
      ["capInstance", { rental: "#4", limit: 0 }],
      ["destroy", { rental: "#4" }],
    ));

  test("storage that nobody pays for earns its host nothing", () =>
    told(
      joinsAt({ volume: 1 }),
      ["grant", { who: "Ben", amount: 4 }],
      looks("Ben"),
      ["store", { who: "Ben", host: "Hugo", size: 400 }],
      9 * HOUR_MS,
      9 * HOUR_MS,
    ));

  test("credit that the operator granted is not paid out to the host where it is spent", () =>
    told(joinsAt({ gpu: 99 }), ["grant", { who: "Ben", amount: 100 }], looks("Ben"), rents("Ben"), 20 * MINUTE_MS));

  test("a balance that comes to its end pays its host to the end", () =>
    told(
      joinsAt({ gpu: 99 }),
      ["grant", { who: "Ben", amount: 100 }],
      looks("Ben"),
      rents("Ben", 2),
      20 * MINUTE_MS,
      20 * MINUTE_MS,
    ));

  test("a host that invents traffic earns no more by it than the traffic limit of its renter leaves", () =>
    told(
      joinsAt({ traffic: 0.15 }),
      pays("Ada", 100),
      looks("Ada"),
      rents("Ada"),
      5 * MINUTE_MS,
      ["inventTraffic", { rental: "#4", gigabytes: 1000 }],
      70 * MINUTE_MS,
    ));

  test("a host that never confirms an end is not paid for the time after the request", () =>
    told(
      joinsAt({}),
      pays("Ada", 100),
      looks("Ada"),
      rents("Ada"),
      MINUTE_MS,
      ["deafen", { host: "Hugo" }],
      ["destroy", { rental: "#4" }],
      20 * MINUTE_MS,
    ));

  test("nobody rents at a price above what the last search answered", () =>
    told(joinsAt({}), pays("Ada", 100), looks("Ada"), relistsAt(99), rents("Ada"), 5 * MINUTE_MS));

  test("a price that falls between search and rent holds for the renter, and is paid", () =>
    told(joinsAt({ gpu: 20 }), pays("Ada", 100), looks("Ada"), relistsAt(3), rents("Ada"), 5 * MINUTE_MS));

  test("a group of workers rents at no multiple of the price that was usual when it was made", () =>
    told(
      joinsAt({}),
      pays("Ada", 500),
      looks("Ada"),
      relistsAt(99),
      ["hire", { who: "Ada", offer: "Hugo 1", key: "whole" }],
      5 * MINUTE_MS,
      5 * MINUTE_MS,
    ));

  test("a host that reports loading as running is paid for a minute of it at most", () =>
    told(
      joinsAt({}),
      pays("Ada", 100),
      looks("Ada"),
      ["billLoading", { host: "Hugo", minutes: 30 }],
      rents("Ada"),
      20 * MINUTE_MS,
      ["destroy", { rental: "#5" }],
    ));

  test("a container that is lost at a start of its agent is given back to its renter", () =>
    told(
      joinsAt({}),
      pays("Ada", 100),
      looks("Ada"),
      rents("Ada"),
      20 * MINUTE_MS,
      ["loseContainers", { host: "Hugo" }],
      5 * MINUTE_MS,
    ));

  test("card money that was given away is not lost when its payment is disputed", () =>
    told(pays("Ben", 100), ["transfer", { from: "Ben", to: "Ada", amount: 90 }], MINUTE_MS, [
      "dispute",
      { who: "Ben" },
    ]));

  test("a deposit keeps nothing of a card payment that is disputed", () =>
    told(
      joinsAt({ gpu: 0.3 }),
      pays("Ada", 20),
      looks("Ada"),
      rents("Ada"),
      ["prepay", { rental: "#4", amount: 10 }],
      ["dispute", { who: "Ada" }],
      5 * MINUTE_MS,
    ));

  test("a host gives back once what a renter paid with a disputed payment", () =>
    told(
      joinsAt({}),
      pays("Ben", 20),
      looks("Ben"),
      rents("Ben"),
      ["deafen", { host: "Hugo" }],
      20 * MINUTE_MS,
      ["dispute", { who: "Ben" }],
      5 * MINUTE_MS,
    ));

  test("an invitation is of no use to an account that only claims its address", () =>
    told(["takeAddress", { who: "Ben" }], ["invite", { who: "Ada" }], ["accept", { who: "Ben" }]));

  test("credit that is sent to an address does not reach an account that only claims it", () =>
    told(
      ["grant", { who: "Ada", amount: 100 }],
      ["takeAddress", { who: "Ben" }],
      ["sendToNewcomer", { from: "Ada", amount: 5 }],
    ));

  test("a key that may do misc alone rents nothing through workers", () =>
    told(
      joinsAt({}),
      pays("Ada", 100),
      looks("Ada"),
      ["hire", { who: "Ada", offer: "Hugo 1", key: "misc" }],
      5 * MINUTE_MS,
      MINUTE_MS,
    ));

  test("old reports that an agent says again earn its host nothing", () =>
    told(
      joinsAt({}),
      pays("Ada", 100),
      looks("Ada"),
      rents("Ada"),
      5 * MINUTE_MS,
      ["stop", { rental: "#4" }],
      ["replay", { host: "Hugo" }],
      20 * MINUTE_MS,
      ["start", { rental: "#4" }],
      ["replay", { host: "Hugo" }],
      5 * MINUTE_MS,
    ));

  test("an instance is read and changed by nobody but its renter", () =>
    told(
      joinsAt({}),
      pays("Ada", 100),
      looks("Ada"),
      rents("Ada"),
      ["trespass", { who: "Ben", rental: "#4" }],
      ["trespass", { who: "Hugo", rental: "#4" }],
    ));

  test("one credential brings one machine in", () => told(joinsAt({}), ["secondMachine", { host: "Hugo" }]));

  test("instances of an account end when it is frozen, and go on when it is freed and starts them", () =>
    told(
      joinsAt({}),
      pays("Ada", 100),
      looks("Ada"),
      rents("Ada"),
      5 * MINUTE_MS,
      ["freeze", { who: "Ada" }],
      rents("Ada"),
      ["wait", { who: "Ada", host: "Hugo", size: 1, max: 4, hours: 1 }],
      ["useInnerKey", { rental: "#4" }],
      20 * MINUTE_MS,
      ["unfreeze", { who: "Ada" }],
      ["start", { rental: "#4" }],
      5 * MINUTE_MS,
    ));

  test("a group of workers of a frozen account rents nothing", () =>
    told(
      joinsAt({}),
      pays("Ada", 100),
      looks("Ada"),
      ["hire", { who: "Ada", offer: "Hugo 1", key: "whole" }],
      ["freeze", { who: "Ada" }],
      5 * MINUTE_MS,
      5 * MINUTE_MS,
    ));

  test("nobody rents of a frozen host, who is paid nothing, and what runs there goes on", () =>
    told(
      joinsAt({}),
      pays("Ada", 100),
      looks("Ada"),
      rents("Ada"),
      ["freeze", { who: "Hugo" }],
      20 * MINUTE_MS,
      rents("Ada"),
      ["rent", { who: "Ada", offer: "Hugo 1", disk: 10, again: "looks again and " }],
      5 * MINUTE_MS,
    ));

  test("a dispute that the house wins takes nothing from the host where its card was spent", () =>
    told(
      joinsAt({}),
      pays("Ada", 20),
      looks("Ada"),
      rents("Ada"),
      20 * MINUTE_MS,
      ["dispute", { who: "Ada" }],
      5 * MINUTE_MS,
      ["endDispute", { who: "Ada", for: "house" }],
      5 * MINUTE_MS,
    ));

  test("a dispute that the payer wins takes from a host what the card paid it, and no more", () =>
    told(
      joinsAt({}),
      pays("Ada", 5),
      ["grant", { who: "Ada", amount: 100 }],
      looks("Ada"),
      rents("Ada", 2),
      70 * MINUTE_MS,
      70 * MINUTE_MS,
      ["dispute", { who: "Ada" }],
      5 * MINUTE_MS,
      ["endDispute", { who: "Ada", for: "payer" }],
    ));

  test("money spent from one disputed payment is not kept because another one paid for its return", () =>
    told(
      joinsAt({ gpu: 20 }),
      pays("Ada", 100),
      looks("Ada"),
      rents("Ada"),
      70 * MINUTE_MS,
      ["destroy", { rental: "#4" }],
      pays("Ada", 100),
      ["dispute", { who: "Ada", which: "first" }],
      ["dispute", { who: "Ada", which: "last" }],
    ));

  test("credit that the operator granted pays for the return of no payment that a host still has", () =>
    told(
      joinsAt({ gpu: 99 }),
      pays("Ada", 100),
      looks("Ada"),
      rents("Ada", 2),
      40 * MINUTE_MS,
      ["grant", { who: "Ada", amount: 100 }],
      ["dispute", { who: "Ada" }],
    ));

  test("who waits for a machine rents it at no more than was said, once, and not after it gave up", () =>
    told(
      joinsAt({ gpu: 20 }),
      pays("Ada", 100),
      ["wait", { who: "Ada", host: "Hugo", size: 1, max: 4, hours: 1 }],
      ["wait", { who: "Ada", host: "Hugo", size: 1, max: 4, hours: 1 }],
      ["giveUp", { request: "#4" }],
      5 * MINUTE_MS,
      relistsAt(3),
      relistsAt(99),
      20 * MINUTE_MS,
    ));

  test("a volume on a network disk costs what was shown, until it is deleted, after its end, too", () =>
    told(
      joinsAt({}),
      pays("Ada", 500),
      ["shareDisk", { host: "Hugo", price: 1, hours: 1 }],
      ["storeThere", { who: "Ada", host: "Hugo", size: 400, again: "looks again and " }],
      ["shareDisk", { host: "Hugo", price: 10, hours: 24 }],
      70 * MINUTE_MS,
      ["rentWithVolume", { who: "Ben", volume: "#4" }],
      70 * MINUTE_MS,
      ["discard", { volume: "#4" }],
      5 * MINUTE_MS,
    ));

  test("a deleted key, the key inside a container and a private template open nothing to others", () =>
    told(
      joinsAt({}),
      pays("Ada", 100),
      looks("Ada"),
      rents("Ada"),
      ["useDeletedKey", { owner: "Ada", who: "Ben" }],
      ["useInnerKey", { rental: "#4" }],
      ["peekTemplate", { owner: "Ada", who: "Ben" }],
    ));

  test("a reboot leaves nothing unpaid that ran before it", () =>
    told(
      joinsAt({ gpu: 99 }),
      pays("Ada", 100),
      looks("Ada"),
      rents("Ada"),
      ["reboot", { rental: "#4" }],
      10 * SECOND_MS,
      ["recycle", { rental: "#4" }],
      10 * SECOND_MS,
    ));

  test("a rental that somebody waited for is stopped at once when its payment is disputed", () =>
    told(
      joinsAt({ gpu: 0.3, disk: 1 }),
      pays("Ada", 500),
      ["wait", { who: "Ada", host: "Hugo", size: 1, max: 30, hours: 1 }],
      ["dispute", { who: "Ada" }],
      5 * MINUTE_MS,
    ));
});
