// Accounts that an administrator freezes in the middle of everything, and frees again.
import { closeOrder, EVERYBODY, NOTHING, outcomeOf, personOf, someOf, textOf, type DeedRules } from "./deeds.ts";
import { isFrozen, type Case, type Person } from "./case.ts";

const keysOf = (play: Case, person: Person): readonly string[] => [
  person.secret,
  ...person.narrowKeys.values(),
  ...[...play.rentals.values()].flatMap(({ renter, innerKey }) => (renter === person ? (innerKey ?? []) : [])),
  ...[...play.teams.values()].flatMap(({ owner, secret }) => (owner === person ? [secret] : [])),
];

export const freezeDeeds: DeedRules = {
  freeze: {
    weight: 1,
    draw: (play, pick) => {
      const who = pick.one(EVERYBODY);
      const known = play.people.get(who);
      return known === undefined || isFrozen(known) ? undefined : { who };
    },
    tell: ({ who }) => `An administrator freezes the account of ${who}`,
    act: async (world, play, { args }) => {
      const person = await personOf(world, play, textOf(args, "who"));
      if (isFrozen(person)) return NOTHING;
      const body = { user: String(person.id), reason: "Reports are looked into." };
      const answer = await world.ask(world.admin.secret, "POST", "/admin/freezes/", body);
      if (answer.status !== 200) return outcomeOf(answer);
      const fromMs = world.nowMs();
      person.freezes.push({ id: Number(answer.body.id), fromMs, untilMs: undefined });
      for (const secret of keysOf(play, person)) {
        world.shut.set(secret, (done) => play.reached.push(`${person.name}, whose account is frozen, did ${done}`));
      }
      for (const rental of play.rentals.values()) if (rental.renter === person) closeOrder(rental, fromMs);
      await world.app.runLoop("enforce-freezes");
      return outcomeOf(answer);
    },
  },
  unfreeze: {
    weight: 3,
    draw: (play, pick) => {
      const who = someOf(pick, [...play.people.values()].filter(isFrozen));
      return who && { who: who.name };
    },
    tell: ({ who }) => `An administrator frees the account of ${who}`,
    act: async (world, play, { args }) => {
      const person = play.people.get(textOf(args, "who"));
      const freeze = person?.freezes.findLast(({ untilMs }) => untilMs === undefined);
      if (person === undefined || freeze === undefined) return NOTHING;
      const answer = await world.ask(world.admin.secret, "PUT", `/admin/freezes/${freeze.id}/`, { reason: "Cleared." });
      if (answer.status !== 200) return outcomeOf(answer);
      freeze.untilMs = world.nowMs();
      for (const secret of keysOf(play, person)) world.shut.delete(secret);
      return outcomeOf(answer);
    },
  },
};
