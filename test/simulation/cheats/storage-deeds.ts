// Volumes: rented by what a search answered, of any size at any price.
import { NOTHING, numberOf, outcomeOf, payingPeople, someOf, textOf, type DeedRules } from "./deeds.ts";

export const storageDeeds: DeedRules = {
  store: {
    weight: 3,
    draw: (play, pick) => {
      const shown = payingPeople(play).flatMap(({ name, shownSpace }) =>
        [...shownSpace.keys()].flatMap((host) => (host.endsWith(" net") ? [] : [[name, host]])),
      );
      const [who = "", host = ""] = someOf(pick, shown) ?? [];
      return who === "" ? undefined : { who, host, size: pick.one([1, 20, 400]) };
    },
    tell: ({ who, host, size }) => `${who} rents a volume of ${size} GB of ${host}`,
    act: async (world, play, { args, label }) => {
      const person = play.people.get(textOf(args, "who"));
      const machine = play.machines.get(textOf(args, "host"));
      const shown = person?.shownSpace.get(textOf(args, "host"));
      if (person === undefined || machine === undefined || shown === undefined) return NOTHING;
      const sizeGb = numberOf(args, "size");
      const answer = await world.ask(person.secret, "PUT", "/volumes/", { id: shown.offerId, size: sizeGb });
      if (answer.status !== 200) return outcomeOf(answer);
      const of = { label, id: Number(answer.body.id), renter: person, host: machine.host, sizeGb, price: shown.price };
      play.stored.set(label, { ...of, fromMs: world.nowMs(), deletedMs: undefined });
      return `volume ${answer.body.id}`;
    },
  },
  discard: {
    weight: 1,
    draw: (play, pick) => {
      const found = someOf(
        pick,
        [...play.stored.values()].filter(({ deletedMs }) => deletedMs === undefined),
      );
      return found && { volume: found.label };
    },
    tell: ({ volume }) => `The renter deletes ${volume}`,
    act: async (world, play, { args }) => {
      const found = play.stored.get(textOf(args, "volume"));
      if (found === undefined || found.deletedMs !== undefined) return NOTHING;
      const answer = await world.ask(found.renter.secret, "DELETE", "/volumes/", { id: found.id });
      if (answer.status === 200) found.deletedMs = world.nowMs();
      return outcomeOf(answer);
    },
  },
};
