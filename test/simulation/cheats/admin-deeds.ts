// Deeds of administrators in the middle of everything: refund card payments, take earnings back, correct, hold
// payouts, and let earnings of granted credit go.
import { deliver } from "./account-deeds.ts";
import {
  dollars,
  EVERYBODY,
  NOTHING,
  numberOf,
  outcomeOf,
  personOf,
  someOf,
  textOf,
  type DeedRules,
  type Picker,
} from "./deeds.ts";
import { keptCents, nanosIn, type Args, type CardPayment, type Case, type Deed, type Person } from "./case.ts";
import type { CheatsWorld } from "./world.ts";

const CENTS = 100;
const isRefundable = (payment: CardPayment) => !payment.isDisputed && keptCents(payment) - payment.refundAskedCents > 0;
const isAsked = ({ refundAskedCents }: CardPayment) => refundAskedCents > 0;

/** Draws somebody for whom the condition holds, as the arguments of a deed. */
function drawWho(play: Case, pick: Picker, holds: (person: Person) => boolean): Args | undefined {
  const found = someOf(pick, [...play.people.values()].filter(holds));
  return found && { who: found.name };
}

async function bookedByHand(
  world: CheatsWorld,
  play: Case,
  { path, label, args }: { readonly path: string } & Pick<Deed, "label" | "args">,
): Promise<string> {
  const person = await personOf(world, play, textOf(args, "who"));
  const amount = numberOf(args, "amount");
  const about = { user: String(person.id), reason: "A case.", reference: `${play.name}-${label}` };
  const side = args["side"] === undefined ? {} : { side: textOf(args, "side") };
  const booking = { ...about, ...side, amount };
  const answer = await world.ask(world.admin.secret, "POST", path, booking);
  // Under one reference it is booked once, however often it is asked for.
  await world.ask(world.admin.secret, "POST", path, booking);
  if (answer.status !== 200) return outcomeOf(answer);
  const nanos = nanosIn(amount);
  const after = nanosIn(answer.body.balance);
  if (path.includes("corrections") && nanos > 0n) person.byHand.givenNanos += nanos;
  else person.byHand.takenNanos += takenOf({ after, nanos: nanos > 0n ? nanos : -nanos });
  return "";
}

/** The part of the amount that was taken from a balance above zero. */
function takenOf({ after, nanos }: { readonly after: bigint; readonly nanos: bigint }): bigint {
  if (after >= 0n) return nanos;
  return after + nanos > 0n ? after + nanos : 0n;
}

const refunds: DeedRules = {
  refund: {
    weight: 2,
    draw: (play, pick) => {
      const who = drawWho(play, pick, ({ payments }) => payments.some(isRefundable));
      return who && { ...who, part: pick.one([1, 1, 0.5]) };
    },
    tell: ({ who, part }) =>
      `An administrator gives ${who} the last card payment back, ${part === 1 ? "all of it" : "half of it"}`,
    act: async (world, play, { args }) => {
      const payment = play.people.get(textOf(args, "who"))?.payments.findLast(isRefundable);
      if (payment === undefined) return NOTHING;
      const leftCents = keptCents(payment) - payment.refundAskedCents;
      const cents = Math.ceil(leftCents * numberOf(args, "part"));
      const path = `/admin/payments/${payment.id}/refund/`;
      const answer = await world.ask(world.admin.secret, "POST", path, { amount: cents / CENTS });
      if (answer.status === 200) payment.refundAskedCents += cents;
      return outcomeOf(answer);
    },
  },
  tellRefund: {
    weight: 4,
    draw: (play, pick) => drawWho(play, pick, ({ payments }) => payments.some(isAsked)),
    tell: ({ who }) => `The bank tells that each refund of ${who} went back to the card`,
    act: async (world, play, { args }) => {
      const asked = play.people.get(textOf(args, "who"))?.payments.filter(isAsked) ?? [];
      if (asked.length === 0) return NOTHING;
      await world.app.runLoop("ask-for-refunds");
      for (const payment of asked) {
        payment.refundedCents += payment.refundAskedCents;
        payment.refundAskedCents = 0;
        await deliver(world, world.stripe.refunded(payment.intentId, payment.refundedCents));
      }
      return "";
    },
  },
};

const bookings: DeedRules = {
  takeBack: {
    weight: 1,
    draw: (play, pick) => {
      const owner = someOf(pick, [...play.machines.values()])?.owner;
      return owner && { who: owner.name, amount: pick.one([0.05, 1, 50]) };
    },
    tell: ({ who, amount }) => `An administrator takes ${dollars(amount)} of ${who}'s earnings back, and asks twice`,
    act: async (world, play, { args, label }) =>
      bookedByHand(world, play, { path: "/admin/earnings/take_back/", args, label }),
  },
  correct: {
    weight: 1,
    draw: (_play, pick) => ({
      who: pick.one(EVERYBODY),
      side: pick.one(["credit", "earnings"]),
      amount: pick.one([0.5, 20, -0.5, -20]),
    }),
    tell: ({ who, side, amount }) =>
      `An administrator corrects the ${side} of ${who} by ${dollars(amount)}, and asks twice`,
    act: async (world, play, { args, label }) =>
      bookedByHand(world, play, { path: "/admin/corrections/", args, label }),
  },
  releaseEarnings: {
    weight: 1,
    draw: (play, pick) => {
      const owner = someOf(pick, [...play.machines.values()])?.owner;
      return owner && { who: owner.name };
    },
    tell: ({ who }) => `An administrator lets ${who} be paid what came of granted credit`,
    act: async (world, play, { args }) => {
      const person = play.people.get(textOf(args, "who"));
      if (person === undefined) return NOTHING;
      const body = { user_id: Number(person.id), reason: "The renter paid by wire." };
      const answer = await world.ask(world.admin.secret, "POST", "/admin/earnings/release/", body);
      if (answer.status === 200) person.byHand.releasedNanos += nanosIn(answer.body.released);
      return outcomeOf(answer);
    },
  },
};

const holds: DeedRules = {
  holdPayouts: {
    weight: 1,
    draw: (play, pick) => drawWho(play, pick, ({ byHand }) => byHand.payHoldId === undefined),
    tell: ({ who }) => `An administrator holds the payouts of ${who}`,
    act: async (world, play, { args }) => {
      const person = await personOf(world, play, textOf(args, "who"));
      const body = { user: String(person.id), reason: "Reports are looked into." };
      const answer = await world.ask(world.admin.secret, "POST", "/admin/payout_holds/", body);
      if (answer.status === 200) person.byHand.payHoldId = Number(answer.body.id);
      return outcomeOf(answer);
    },
  },
  releasePayouts: {
    weight: 3,
    draw: (play, pick) => drawWho(play, pick, ({ byHand }) => byHand.payHoldId !== undefined),
    tell: ({ who }) => `An administrator releases the payouts of ${who}`,
    act: async (world, play, { args }) => {
      const person = play.people.get(textOf(args, "who"));
      if (person?.byHand.payHoldId === undefined) return NOTHING;
      const path = `/admin/payout_holds/${person.byHand.payHoldId}/`;
      const answer = await world.ask(world.admin.secret, "PUT", path, { reason: "Cleared." });
      if (answer.status === 200) person.byHand.payHoldId = undefined;
      return outcomeOf(answer);
    },
  },
};

export const adminDeeds: DeedRules = { ...refunds, ...bookings, ...holds };
