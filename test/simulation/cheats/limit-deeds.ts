// Limits on spending: a limit bounds what comes after it, and what was used before stays to be paid.
import {
  dollars,
  liveRentals,
  NOTHING,
  numberOf,
  onRental,
  outcomeOf,
  someOf,
  textOf,
  type DeedRules,
} from "./deeds.ts";
import { nanosIn, type Person, type Args } from "./case.ts";
import type { CheatsWorld } from "./world.ts";

const CAP_LIMITS = [0, 0.001, 0.5, 5, 50];

async function limit(world: CheatsWorld, { secret }: Person, scope: Args, args: Args): Promise<string> {
  const body = { ...scope, period: "total", limit: numberOf(args, "limit") };
  return outcomeOf(await world.ask(secret, "PUT", "/caps/", body));
}

export const limitDeeds: DeedRules = {
  capInstance: onRental({
    weight: 3,
    args: (pick) => ({ limit: pick.one(CAP_LIMITS) }),
    tell: ({ rental, limit }) => `The renter limits ${rental} to ${dollars(limit)} in all`,
    does: (world, { renter, id }, args) => limit(world, renter, { scope: "instance", scope_id: id }, args),
  }),
  limitTraffic: onRental({
    weight: 1,
    args: (pick) => ({ limit: pick.one([0, 1, 50]) }),
    tell: ({ rental, limit }) => `The renter limits what the traffic of ${rental} may cost to ${dollars(limit)}`,
    does: async (world, rental, args) => {
      const body = { traffic_limit: numberOf(args, "limit") };
      const answer = await world.ask(rental.renter.secret, "PUT", `/instances/${rental.id}/`, body);
      if (answer.status === 200) rental.trafficLimits.push(nanosIn(numberOf(args, "limit")));
      return outcomeOf(answer);
    },
  }),
  capAccount: {
    weight: 2,
    draw: (play, pick) => {
      const who = someOf(pick, [...new Set(liveRentals(play).map(({ renter }) => renter.name))]);
      return who === undefined ? undefined : { who, limit: pick.one(CAP_LIMITS) };
    },
    tell: ({ who, limit }) => `${who} limits the account to ${dollars(limit)} in all`,
    act: async (world, play, { args }) => {
      const person = play.people.get(textOf(args, "who"));
      return person === undefined ? NOTHING : limit(world, person, { scope: "account" }, args);
    },
  },
};
