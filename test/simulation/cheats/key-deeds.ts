// Keys in wrong hands, and templates that are nobody else's business.
import { drawRental, EVERYBODY, NOTHING, outcomeOf, personOf, RENTERS, textOf, type DeedRules } from "./deeds.ts";
import type { Case, Person } from "./case.ts";
import type { CheatsWorld } from "./world.ts";

/** Requests that somebody tries with a key of this account. */
function tries({ id }: Person, thief: Person) {
  const key = { name: "another" };
  return [
    ["GET", "/users/current/", undefined],
    ["GET", "/instances/", undefined],
    ["GET", "/auth/apikeys/", undefined],
    ["POST", "/auth/apikeys/", key],
    ["PUT", "/commands/transfer_credit/", { recipient: String(thief.id), amount: 0.5 }],
    ["PUT", "/caps/", { scope: "account", period: "total", limit: 0 }],
    ["PUT", "/users/", { normalized_email: thief.mailbox }],
    ["GET", `/charges/?user=${id}`, undefined],
  ] as const;
}

async function tryAll(
  world: CheatsWorld,
  play: Case,
  { secret, owner, thief, what }: { secret: string; owner: Person; thief: Person; what: string },
): Promise<void> {
  for (const [method, path, body] of tries(owner, thief)) {
    const { status } = await world.ask(secret, method, path, body);
    if (status === 200) play.reached.push(`${thief.name} did ${method} ${path} for ${owner.name} with ${what}`);
  }
}

export const keyDeeds: DeedRules = {
  useDeletedKey: {
    weight: 1,
    draw: (play, pick) => {
      const owner = pick.one(RENTERS);
      return { owner, who: pick.one(EVERYBODY.filter((name) => name !== owner)) };
    },
    tell: ({ owner, who }) => `${owner} makes a key, uses it, and deletes it; ${who}, who has seen it, tries it`,
    act: async (world, play, { args }) => {
      const owner = await personOf(world, play, textOf(args, "owner"));
      const thief = await personOf(world, play, textOf(args, "who"));
      const made = await world.ask(owner.secret, "POST", "/auth/apikeys/", { name: "seen" });
      if (made.status !== 200) return outcomeOf(made);
      await world.ask(made.body.key, "GET", "/instances/");
      await world.done(owner.secret, "DELETE", `/auth/apikeys/${made.body.id}/`, {});
      // The server that did not delete it hears of that by a notification.
      await world.settled();
      await tryAll(world, play, { secret: made.body.key, owner, thief, what: "a key that was deleted" });
      return "";
    },
  },
  useInnerKey: {
    weight: 2,
    draw: (play, pick) => drawRental(play, pick),
    tell: ({ rental }) =>
      `The host of ${rental} reads the key inside its container, and tries it on the account and on its other instances`,
    act: async (world, play, { args }) => {
      const rental = play.rentals.get(textOf(args, "rental"));
      const thief = rental && [...play.machines.values()].find(({ host }) => host === rental.host)?.owner;
      if (rental?.innerKey === undefined || thief === undefined || thief === rental.renter) return NOTHING;
      const { innerKey: secret, renter: owner } = rental;
      await tryAll(world, play, { secret, owner, thief, what: "the key inside a container" });
      const others = [...play.rentals.values()].filter((one) => one !== rental && one.renter === owner);
      const offers = [...owner.shown.values()].map(({ offerId }) => `/asks/${offerId}/`);
      const more = [
        ...offers.map((path) => ["PUT", path, { image: "busybox", disk: 10 }] as const),
        ...others.map(({ id }) => ["GET", `/instances/${id}/`, undefined] as const),
        ...others.map(({ id }) => ["DELETE", `/instances/${id}/`, {}] as const),
        ["PUT", `/instances/prepay/${rental.id}/`, { amount: 1 }] as const,
        ["PUT", `/instances/bid_price/${rental.id}/`, { client_id: "me", price: 30 }] as const,
        ["PUT", `/instances/${rental.id}/`, { traffic_limit: 50 }] as const,
      ];
      for (const [method, path, body] of more) {
        const { status } = await world.ask(secret, method, path, body);
        if (status === 200)
          play.reached.push(
            `${thief.name} did ${method} ${path} for ${owner.name} with the key inside ${rental.label}`,
          );
      }
      return "";
    },
  },
  peekTemplate: {
    weight: 1,
    draw: (_play, pick) => {
      const owner = pick.one(RENTERS);
      return { owner, who: pick.one(EVERYBODY.filter((name) => name !== owner)) };
    },
    tell: ({ owner, who }) =>
      `${owner} makes a private template with a token in it, and ${who} looks for it, changes and deletes it`,
    act: async (world, play, { args, label }) => {
      const owner = await personOf(world, play, textOf(args, "owner"));
      const thief = await personOf(world, play, textOf(args, "who"));
      const token = `token-${play.name}-${label}`;
      const settings = { name: `Private ${play.name} ${label}`, image: "busybox", env: `-e TOKEN=${token}` };
      const made = await world.ask(owner.secret, "POST", "/template/", settings);
      if (made.status !== 200) return outcomeOf(made);
      const { id, hash_id: hash } = made.body.template;
      const what = `${owner.name}'s private template`;
      const byName = encodeURIComponent(JSON.stringify({ name: { eq: settings.name } }));
      const byHash = encodeURIComponent(JSON.stringify({ hash_id: { eq: hash } }));
      for (const query of ["", `?select_filters=${byName}`, `?select_filters=${byHash}`]) {
        const { text } = await world.ask(thief.secret, "GET", `/template/${query}`);
        if (text.includes(token) || text.includes(settings.name)) play.reached.push(`${thief.name} saw ${what}`);
      }
      const changed = await world.ask(thief.secret, "PUT", "/template/", { hash_id: hash, image: "evil" });
      if (changed.status === 200) play.reached.push(`${thief.name} changed ${what}`);
      for (const body of [{ template_id: id }, { hash_id: hash }]) {
        const deleted = await world.ask(thief.secret, "DELETE", "/template/", body);
        if (deleted.status === 200) play.reached.push(`${thief.name} deleted ${what}`);
      }
      return "";
    },
  },
};
