// Deeds with money and accounts: pay, transfer, dispute, take names of others, invite, and try the rights of others.
import {
  dollars,
  drawRental,
  EVERYBODY,
  NOTHING,
  numberOf,
  outcomeOf,
  personOf,
  rentalOf,
  RENTERS,
  someOf,
  textOf,
  type DeedRules,
} from "./deeds.ts";
import { keptCents, nanosIn, type CardPayment, type Person, type Case } from "./case.ts";
import { randomUUID } from "node:crypto";
import { asId, type UserId } from "../../../server/src/base/ids.ts";
import type { CheatsWorld } from "./world.ts";
import type { TestAnswer } from "../../support/network/http.ts";

const CENTS = 100;
/** True for a payment about which the bank still takes a dispute: not for one that is being refunded. */
const isUndisputed = (payment: CardPayment) =>
  !payment.isDisputed && !payment.isDecided && payment.refundAskedCents === 0 && keptCents(payment) > 0;
const isOpen = ({ isDisputed, isDecided }: CardPayment) => isDisputed && !isDecided;
/** Somebody whom the team wants, and who has no account yet: the mail goes to a person outside. */
const newcomerOf = (play: Case) => `newcomer-${play.name}@corp.example`;

async function payByCard(world: CheatsWorld, person: Person, amount: number): Promise<string> {
  const answer = await world.ask(person.secret, "POST", "/billing/checkout/", { amount });
  if (answer.status !== 200) return outcomeOf(answer);
  const session = world.stripe.sessions.get(String(answer.body.url).split("/").at(-1) ?? "");
  if (session === undefined) return "the page is gone";
  const [event] = world.stripe.pay(session);
  if (event === undefined) return "nothing was paid";
  const intentId = String(JSON.parse(event.payload).data.object.id);
  const back = { isDisputed: false, isDecided: false, refundAskedCents: 0, refundedCents: 0 };
  person.payments.push({ id: Number(answer.body.payment_id), intentId, cents: amount * CENTS, ...back });
  return outcomeOf(await deliver(world, event));
}

export async function deliver(
  world: CheatsWorld,
  event: Parameters<CheatsWorld["stripe"]["delivery"]>[0],
): Promise<TestAnswer> {
  const { url, headers, payload } = world.stripe.delivery(event, world.clock.now());
  return world.app.call({ method: "POST", url, headers, text: payload });
}

const money: DeedRules = {
  pay: {
    weight: 2,
    draw: (_play, pick) => ({ who: pick.one(RENTERS), amount: pick.one([5, 20, 100, 500]) }),
    tell: ({ who, amount }) => `${who} pays ${dollars(amount)} in by card`,
    act: async (world, play, { args }) =>
      payByCard(world, await personOf(world, play, textOf(args, "who")), numberOf(args, "amount")),
  },
  grant: {
    weight: 2,
    draw: (_play, pick) => ({ who: pick.one(RENTERS), amount: pick.one([0.01, 5, 100]) }),
    tell: ({ who, amount }) => `The operator grants ${who} ${dollars(amount)} of credit`,
    act: async (world, play, { args }) => {
      const person = await personOf(world, play, textOf(args, "who"));
      const body = { user_id: String(person.id), amount: numberOf(args, "amount") };
      const answer = await world.ask(world.admin.secret, "POST", "/admin/credit/", body);
      if (answer.status === 200) person.grantedNanos += nanosIn(numberOf(args, "amount"));
      return outcomeOf(answer);
    },
  },
  transfer: {
    weight: 2,
    draw: (play, pick) => {
      const from = someOf(pick, [...play.people.keys()]);
      const to = pick.one(EVERYBODY);
      return from === undefined || from === to ? undefined : { from, to, amount: pick.one([0.5, 5, 90, 100]) };
    },
    tell: ({ from, to, amount }) => `${from} transfers ${dollars(amount)} to ${to}, and repeats the request`,
    act: async (world, play, { args }) => {
      const from = play.people.get(textOf(args, "from"));
      if (from === undefined) return NOTHING;
      const to = await personOf(world, play, textOf(args, "to"));
      const body = { recipient: String(to.id), amount: numberOf(args, "amount") };
      const key = { "idempotency-key": randomUUID() };
      const transfer = () => world.ask(from.secret, "PUT", "/commands/transfer_credit/", body, key);
      const answer = await transfer();
      if (answer.status === 200) from.sentTo.add(to.name);
      await transfer();
      return outcomeOf(answer);
    },
  },
  dispute: {
    weight: 2,
    draw: (play, pick) => {
      const who = someOf(
        pick,
        [...play.people.values()].filter(({ payments }) => payments.some(isUndisputed)),
      );
      return who && { who: who.name, which: pick.one(["last", "last", "first"]) };
    },
    tell: ({ who, which = "last" }) => `${who} disputes the ${which} card payment with the bank`,
    act: async (world, play, { args }) => {
      const payments = play.people.get(textOf(args, "who"))?.payments.filter(isUndisputed) ?? [];
      const payment = payments.at(args["which"] === "first" ? 0 : -1);
      if (payment === undefined) return NOTHING;
      payment.isDisputed = true;
      const { intentId } = payment;
      return outcomeOf(await deliver(world, world.stripe.disputed(intentId, keptCents(payment), "needs_response")));
    },
  },
  endDispute: {
    weight: 2,
    draw: (play, pick) => {
      const who = someOf(
        pick,
        [...play.people.values()].filter(({ payments }) => payments.some(isOpen)),
      );
      return who && { who: who.name, for: pick.one(["house", "house", "payer"]) };
    },
    tell: ({ who, for: winner }) => `The bank decides the first open dispute of ${who} for the ${winner}`,
    act: async (world, play, { args }) => {
      const payment = play.people.get(textOf(args, "who"))?.payments.find(isOpen);
      if (payment === undefined) return NOTHING;
      const isWon = textOf(args, "for") === "house";
      [payment.isDisputed, payment.isDecided] = [!isWon, true];
      const { intentId } = payment;
      return outcomeOf(
        await deliver(world, world.stripe.disputed(intentId, keptCents(payment), isWon ? "won" : "lost")),
      );
    },
  },
};

const names: DeedRules = {
  takeAddress: {
    weight: 1,
    draw: (_play, pick) => ({ who: pick.one(EVERYBODY) }),
    tell: ({ who }) => `${who} gives newcomer@corp.example as the account's address, which is somebody else's`,
    act: async (world, play, { args }) => {
      const person = await personOf(world, play, textOf(args, "who"));
      const answer = await world.ask(person.secret, "PUT", "/users/", { normalized_email: newcomerOf(play) });
      if (answer.status === 200) person.email = newcomerOf(play);
      return outcomeOf(answer);
    },
  },
  sendToNewcomer: {
    weight: 1,
    draw: (play, pick) => {
      const from = someOf(pick, [...play.people.keys()]);
      return from === undefined ? undefined : { from, amount: pick.one([0.5, 5]) };
    },
    tell: ({ from, amount }) => `${from} transfers ${dollars(amount)} to newcomer@corp.example`,
    act: async (world, play, { args }) => {
      const from = play.people.get(textOf(args, "from"));
      if (from === undefined) return NOTHING;
      const body = { recipient: newcomerOf(play), amount: numberOf(args, "amount") };
      const taker = [...play.people.values()].find(({ email }) => email === newcomerOf(play));
      const creditOf = async () =>
        taker === undefined ? 0 : (await world.done(taker.secret, "GET", "/users/current/")).credit;
      const before = await creditOf();
      const answer = await world.ask(from.secret, "PUT", "/commands/transfer_credit/", body);
      if (taker !== undefined && taker !== from && (await creditOf()) > before) {
        play.reached.push(
          `${taker.name} got credit that ${from.name} sent to an address whose mail goes to somebody else`,
        );
      }
      return outcomeOf(answer);
    },
  },
  invite: {
    weight: 1,
    draw: (_play, pick) => ({ who: pick.one(RENTERS) }),
    tell: ({ who }) => `${who} founds a team and invites newcomer@corp.example as a manager`,
    act: async (world, play, { args, label }) => {
      const owner = await personOf(world, play, textOf(args, "who"));
      const made = await world.ask(owner.secret, "POST", "/team/", { team_name: `Lab ${play.name} ${label}` });
      if (made.status !== 200) return outcomeOf(made);
      const { key } = made.body;
      const id = asId<UserId>(Number(made.body.id));
      const answer = await world.ask(key, "POST", "/team/invite/", { email: newcomerOf(play), role: "manager" });
      play.teams.set(label, { owner, id, secret: key, invited: newcomerOf(play) });
      return outcomeOf(answer);
    },
  },
  accept: {
    weight: 1,
    draw: (play, pick) => {
      const liars = [...play.people.values()].filter(({ email, mailbox }) => email !== mailbox);
      const who = play.teams.size === 0 ? undefined : someOf(pick, liars);
      return who && { who: who.name };
    },
    tell: ({ who }) => `${who} reads the account's notices and accepts each invitation in them`,
    act: async (world, play, { args }) => {
      const person = play.people.get(textOf(args, "who"));
      if (person === undefined) return NOTHING;
      const { text } = await world.ask(person.secret, "GET", "/notices/");
      for (const token of new Set(text.match(/[A-Za-z0-9_-]{43}/g) ?? [])) {
        const joined = await world.ask(person.secret, "GET", `/team/invite/${token}/`);
        if (joined.status === 200 && person.email !== person.mailbox) {
          play.reached.push(
            `${person.name} became a member of a team by an invitation that was mailed to somebody else`,
          );
        }
      }
      return "";
    },
  },
};

const strangers: DeedRules = {
  trespass: {
    weight: 1,
    draw: (play, pick) => {
      const found = drawRental(play, pick);
      return found && { ...found, who: pick.one(EVERYBODY) };
    },
    tell: ({ who, rental }) =>
      `${who} tries to read ${rental}, its events, logs and keys, and to stop, start, reboot, bid for, prepay, limit and destroy it: it is somebody else's`,
    act: async (world, play, { args }) => {
      const rental = rentalOf(play, args);
      const person = await personOf(world, play, textOf(args, "who"));
      if (rental === undefined || rental.renter === person) return NOTHING;
      const { id } = rental;
      const tries = [
        ["GET", `/instances/${id}/`, undefined],
        ["GET", `/instances/${id}/events/`, undefined],
        ["GET", `/instances/${id}/ssh/`, undefined],
        ["PUT", `/instances/request_logs/${id}/`, {}],
        ["PUT", `/instances/${id}/`, { state: "stopped" }],
        ["PUT", `/instances/${id}/`, { state: "running" }],
        ["PUT", `/instances/reboot/${id}/`, {}],
        ["PUT", `/instances/bid_price/${id}/`, { client_id: "me", price: 0.01 }],
        ["PUT", `/instances/prepay/${id}/`, { amount: 1 }],
        ["PUT", "/caps/", { scope: "instance", scope_id: id, period: "total", limit: 0 }],
        ["DELETE", `/instances/${id}/`, {}],
      ] as const;
      for (const [method, path, body] of tries) {
        const { status, body: answer } = await world.ask(person.secret, method, path, body);
        // An instance that the key may not see is answered as one that does not exist: with nothing.
        if (status === 200 && answer.instances !== null)
          play.reached.push(`${person.name} did ${method} ${path}, an instance of ${rental.renter.name}`);
      }
      return "";
    },
  },
};

export const accountDeeds: DeedRules = { ...money, ...names, ...strangers };
