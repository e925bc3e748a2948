import assert from "node:assert/strict";
import { test } from "node:test";
import { asId, type UserId } from "../../../server/src/base/ids.ts";
import { newCase, noneByHand, type CardPayment, type Case, type Person } from "./case.ts";
import type { Books } from "./books.ts";
import type { CheatHost } from "./host.ts";
import { DUST, HOUSE_LOSS_MAX, INVENTED_MAX, judgeEnd, judgeNow } from "./judge.ts";
import { storyOf } from "./story.ts";

const HOUR_MS = 3_600_000;
const DOLLAR = 1_000_000_000n;
const PRICES = { gpu: 3n * DOLLAR, disk: 0n, up: DOLLAR, down: 0n };

function aPayment(id: number, cents: number): CardPayment {
  const back = { isDisputed: false, isDecided: false, refundAskedCents: 0, refundedCents: 0 };
  return { id, intentId: `pi_${id}`, cents, ...back };
}

function aPerson(id: number, paidCents: number): Person {
  const payments = [aPayment(id, paidCents)];
  const lists = {
    shown: new Map(),
    shownSpace: new Map(),
    narrowKeys: new Map(),
    freezes: [],
    byHand: noneByHand(),
    sentTo: new Set<string>(),
  };
  const names = { name: `Person ${id}`, mailbox: "a@example.com", email: "a@example.com", secret: "" };
  return { ...names, id: asId<UserId>(id), payments, grantedNanos: 0n, ...lists };
}

/** A renter who paid $10 in, and a host who ran two hours, of which the renter had ordered the first. */
function aCase({ isHonest = true, inventedBytes = 0n } = {}): Case {
  const play = newCase("planted");
  const [renter, owner] = [aPerson(1, 1000), aPerson(2, 0)];
  play.people.set("Ada", renter).set("Hugo", owner);
  const runs = [{ instanceId: 7, generation: 1, stretches: [{ fromMs: 0, untilMs: 2 * HOUR_MS }] }];
  const flows = [{ instanceId: 7, fromMs: 0, untilMs: 1_000, receivedPerSecond: 0, sentPerSecond: 1e9 }];
  // The judge reads nothing else of a host.
  const host = { isHonest, runs, flows, fakeLoadMs: 0, inventedBytes: () => inventedBytes } as unknown as CheatHost;
  play.machines.set("Hugo", { owner, host, listedGpu: PRICES.gpu, cheapestGpu: PRICES.gpu, networkDiskId: undefined });
  play.rentals.set("#4", {
    ...{ label: "#4", id: 7, renter, host, hostName: "Hugo", diskGb: 10, rentedMs: 0, destroyedMs: HOUR_MS },
    ...{ agreed: [{ fromMs: 0, prices: PRICES, gpuDue: PRICES.gpu }], orders: [{ fromMs: 0, untilMs: HOUR_MS }] },
    ...{ isPrepaid: false, lossesMs: [], trafficLimits: [], innerKey: undefined, isStoppedByKey: false },
  });
  return play;
}

type Sums = { gpu?: bigint; bwu?: bigint; credit?: bigint; earnings?: bigint; paidOut?: bigint; givenBack?: bigint };

function books({ gpu = 3n * DOLLAR, bwu = DOLLAR, credit = 0n, earnings = 0n, ...sums }: Sums = {}): Books {
  return {
    charged: new Map([["instance 7", { gpu, bwu }]]),
    givenBack: new Map([[7, sums.givenBack ?? 0n]]),
    balances: new Map([
      [1, { credit, deposits: 0n, earnings: 0n }],
      [2, { credit: 0n, deposits: 0n, earnings }],
    ]),
    paidOut: new Map([[2, sums.paidOut ?? 0n]]),
    workers: [],
    claims: [],
    instances: [],
    takenBack: [],
  };
}

const invariantOf = (broken: Case["broken"]) => broken?.invariant;
const END_MS = 3 * HOUR_MS;

test("a charge for ordered and real time at the shown price is right to the dust, and any more is found", () => {
  assert.equal(judgeEnd(aCase(), books(), END_MS), undefined);
  assert.equal(judgeNow(aCase(), books({ gpu: 3n * DOLLAR + DUST }), END_MS), undefined);
  const broken = judgeNow(aCase(), books({ gpu: 3n * DOLLAR + DUST + 1n }), END_MS);
  assert.equal(invariantOf(broken), "A host earns at most its proven work at the price that its renter saw");
  assert.equal(judgeNow(aCase(), books({ gpu: 3n * DOLLAR + DUST + 1n, givenBack: 1n }), END_MS), undefined);
});

test("a host that lies is paid for 45 seconds after a stop, and for traffic up to the default limit", () => {
  const grace = (3n * DOLLAR * 45n) / 3600n;
  const liar = () => aCase({ isHonest: false, inventedBytes: 1_000_000_000_000n });
  const limit = 2n * DOLLAR + 4n * (3n * DOLLAR + 3n * DOLLAR + grace);
  assert.equal(judgeNow(liar(), books({ gpu: 3n * DOLLAR + grace, bwu: limit }), END_MS), undefined);
  const invariant = "A host earns at most its proven work at the price that its renter saw";
  const more = { gpu: 3n * DOLLAR + grace + DUST + 1n, bwu: limit };
  assert.equal(invariantOf(judgeNow(liar(), books(more), END_MS)), invariant);
  assert.equal(invariantOf(judgeNow(aCase(), books({ gpu: 3n * DOLLAR + grace }), END_MS)), invariant);
  assert.equal(invariantOf(judgeNow(aCase({ isHonest: false }), books({ bwu: 2n * DOLLAR }), END_MS)), invariant);
});

test("a run on an honest host that was not charged is found", () => {
  assert.equal(judgeEnd(aCase(), books({ gpu: 3n * DOLLAR - DUST }), END_MS), undefined);
  const broken = judgeEnd(aCase(), books({ gpu: 3n * DOLLAR - DUST - 1n }), END_MS);
  assert.equal(invariantOf(broken), "Nobody gains more than they pay for");
});

test("an uncharged run on an honest host is excused for a minute before, and 45 seconds after, a dispute or a refund", () => {
  const late = (3n * DOLLAR * 105n) / 3600n + DUST;
  for (const back of [{ isDisputed: true }, { isDecided: true }, { refundedCents: 1 }]) {
    const play = aCase();
    const [payment] = play.people.get("Ada")?.payments ?? [];
    assert.ok(payment);
    Object.assign(payment, back);
    assert.equal(judgeEnd(play, books({ gpu: 3n * DOLLAR - late }), END_MS), undefined);
    const broken = judgeEnd(play, books({ gpu: 3n * DOLLAR - late - 1n }), END_MS);
    assert.equal(invariantOf(broken), "Nobody gains more than they pay for");
  }
});

test("a run may be longer or shorter by the difference of the servers' clocks, and by no more", () => {
  const apart = (9n * DOLLAR) / 3600n;
  const play = () => ({ ...aCase(), clocksDifferMs: 3_000 });
  for (const gpu of [3n * DOLLAR - DUST - apart, 3n * DOLLAR + DUST + apart]) {
    assert.equal(judgeEnd(play(), books({ gpu }), END_MS), undefined);
    const further = gpu < 3n * DOLLAR ? -1n : 1n;
    assert.ok(judgeEnd(play(), books({ gpu: gpu + further }), END_MS));
    assert.ok(judgeEnd(aCase(), books({ gpu }), END_MS), "the clocks of this case agree");
  }
});

test("people's credit and payouts together are no more than the money that came in, and a debt pays for nothing", () => {
  const enough = { credit: 4n * DOLLAR, earnings: 6n * DOLLAR + INVENTED_MAX };
  assert.equal(judgeNow(aCase(), books(enough), END_MS), undefined);
  const invariant = "Nobody makes money from nothing";
  assert.equal(invariantOf(judgeNow(aCase(), books({ ...enough, paidOut: 1n }), END_MS)), invariant);
  const owing = { credit: -500n * DOLLAR, earnings: 11n * DOLLAR };
  assert.equal(invariantOf(judgeNow(aCase(), books(owing), END_MS)), invariant);
});

test("granted credit and disputed payments are no cash that a host can be paid of", () => {
  const paid = { paidOut: 10n * DOLLAR + HOUSE_LOSS_MAX };
  assert.equal(judgeEnd(aCase(), books(paid), END_MS), undefined);
  const play = aCase();
  const renter = play.people.get("Ada");
  assert.ok(renter?.payments[0]);
  renter.grantedNanos = 100n * DOLLAR;
  renter.payments[0].isDisputed = true;
  assert.equal(
    invariantOf(judgeEnd(play, books({ paidOut: DOLLAR }), END_MS)),
    "The house pays out no more than the cash that came in",
  );
});

test("an instance that nobody ordered, and a payout to a frozen account, are found", () => {
  const stranger = { id: 8, renterId: 1, fromMs: 0, diskGb: 10, stopped: [] };
  const one = { ...books(), instances: [{ ...stranger, id: 7 }] };
  assert.equal(judgeNow(aCase(), one, END_MS), undefined);
  const two = judgeNow(aCase(), { ...books(), instances: [stranger] }, END_MS);
  assert.deepEqual(two, { invariant: "Nobody rents what they did not order", figures: "Person 1 has instance 8" });
  const play = aCase();
  play.people.get("Hugo")?.freezes.push({ id: 1, fromMs: HOUR_MS, untilMs: undefined });
  assert.equal(judgeEnd(play, books(), END_MS), undefined);
  assert.equal(invariantOf(judgeEnd(play, books({ paidOut: 1n }), END_MS)), "A frozen account is paid nothing");
});

test("a dispute takes from a host what its payer, and whom the payer sent credit, paid there, and nothing once it is won", () => {
  const invariant = "A dispute takes from a host at most what the disputed card paid it";
  const taking = (nanos: bigint) => ({ ...books({ bwu: 0n }), takenBack: [{ hostId: 2, payerId: 1, nanos }] });
  const play = aCase();
  const [ada, hugo] = [play.people.get("Ada"), play.people.get("Hugo")];
  assert.ok(ada?.payments[0] && hugo);
  assert.equal(invariantOf(judgeNow(play, taking(1n), END_MS)), invariant);
  ada.payments[0].isDisputed = true;
  assert.equal(judgeNow(play, taking(3n * DOLLAR), END_MS), undefined);
  assert.equal(invariantOf(judgeNow(play, taking(3n * DOLLAR + 1n), END_MS)), invariant);
  const carl = aPerson(3, 2000);
  assert.ok(carl.payments[0]);
  carl.payments[0].isDisputed = true;
  play.people.set("Carl", carl);
  const taken = { ...books({ bwu: 0n }), takenBack: [{ hostId: 2, payerId: 3, nanos: DOLLAR }] };
  assert.equal(invariantOf(judgeNow(play, taken, END_MS)), invariant);
  carl.sentTo.add(ada.name);
  assert.equal(judgeNow(play, taken, END_MS), undefined);
  assert.equal(invariantOf(judgeNow(aCase(), books({ earnings: -1n }), END_MS)), invariant);
});

test("credit from administrators is cash, and credit they take was there once, unless its payment goes back or its host fails", () => {
  const play = aCase();
  const [ada, hugo] = [play.people.get("Ada"), play.people.get("Hugo")];
  assert.ok(ada?.payments[0] && hugo);
  const invented = "Nobody makes money from nothing";
  const having = (credit: bigint) => books({ credit: credit + INVENTED_MAX });
  ada.byHand.givenNanos = 5n * DOLLAR;
  assert.equal(judgeNow(play, having(15n * DOLLAR), END_MS), undefined);
  assert.equal(invariantOf(judgeNow(play, having(15n * DOLLAR + 1n), END_MS)), invented);
  hugo.byHand.takenNanos = 3n * DOLLAR;
  assert.equal(judgeNow(play, having(12n * DOLLAR), END_MS), undefined);
  assert.equal(invariantOf(judgeNow(play, having(12n * DOLLAR + 1n), END_MS)), invented);
  const failed = books({ credit: 13n * DOLLAR + INVENTED_MAX, givenBack: DOLLAR });
  assert.equal(judgeNow(play, failed, END_MS), undefined, "a host that failed gives back what was taken from it");
  ada.payments[0].refundedCents = 200;
  assert.equal(judgeNow(play, having(12n * DOLLAR), END_MS), undefined);
  assert.equal(invariantOf(judgeNow(play, having(12n * DOLLAR + 1n), END_MS)), invented);
  ada.payments[0].refundedCents = 400;
  assert.equal(judgeNow(play, having(11n * DOLLAR), END_MS), undefined);
  assert.equal(invariantOf(judgeNow(play, having(11n * DOLLAR + 1n), END_MS)), invented);
});

test("hosts are paid of what was not refunded, what the house gave and released, and nothing while it is held", () => {
  const paid = (nanos: bigint) => books({ paidOut: nanos + HOUSE_LOSS_MAX });
  const play = aCase();
  const [ada, hugo] = [play.people.get("Ada"), play.people.get("Hugo")];
  assert.ok(ada?.payments[0] && hugo);
  ada.grantedNanos = 100n * DOLLAR;
  ada.payments[0].refundedCents = 400;
  ada.byHand.givenNanos = DOLLAR;
  hugo.byHand.releasedNanos = 2n * DOLLAR;
  assert.equal(judgeEnd(play, paid(9n * DOLLAR), END_MS), undefined);
  const invariant = "The house pays out no more than the cash that came in";
  assert.equal(invariantOf(judgeEnd(play, paid(9n * DOLLAR + 1n), END_MS)), invariant);
  hugo.byHand.payHoldId = 1;
  assert.equal(judgeEnd(play, books(), END_MS), undefined);
  const held = judgeEnd(play, books({ paidOut: 1n }), END_MS);
  assert.equal(invariantOf(held), "A host whose payouts are held is paid nothing");
});

test("a container that its host lost has to be given back, and a reach into an account is told first", () => {
  const play = aCase();
  const rental = play.rentals.get("#4");
  assert.ok(rental);
  rental.host.runs.splice(0, 1, {
    instanceId: 7,
    generation: 1,
    stretches: [
      { fromMs: 0, untilMs: HOUR_MS / 2 },
      { fromMs: HOUR_MS / 2, untilMs: 2 * HOUR_MS },
    ],
  });
  rental.lossesMs.push(HOUR_MS / 2);
  assert.equal(invariantOf(judgeEnd(play, books(), END_MS)), "What a host loses is given back to its renter");
  const taken = { ...books(), takenBack: [{ hostId: 2, payerId: 1, nanos: 0n }] };
  assert.equal(judgeEnd(play, taken, END_MS), undefined, "a dispute took what its host had of it");
  const elsewhere = { ...books(), takenBack: [{ hostId: 2, payerId: 2, nanos: 0n }] };
  assert.ok(judgeEnd(play, elsewhere, END_MS), "a dispute of somebody else excuses nothing");
  const stopped = (fromMs: number, untilMs?: number) => ({
    ...books(),
    instances: [{ id: 7, renterId: 1, fromMs: 0, diskGb: 10, stopped: [{ fromMs, untilMs }] }],
  });
  assert.equal(judgeEnd(play, stopped(HOUR_MS / 2), END_MS), undefined, "what is being stopped is no loss");
  assert.ok(judgeEnd(play, stopped(HOUR_MS / 2 + 1), END_MS), "what is stopped later was a loss");
  assert.ok(judgeEnd(play, stopped(0, HOUR_MS / 2), END_MS), "what was started again was a loss");
  play.reached.push("Ben read what is Ada's");
  const broken = judgeNow(play, books(), END_MS);
  assert.deepEqual(broken, { invariant: "Nobody reaches what is not theirs", figures: "Ben read what is Ada's" });
  play.broken = broken;
  play.story.push({ kind: "time", ms: 1_000 }, { kind: "time", ms: 59_000 });
  play.story.push({ kind: "deed", sentence: "(#5) Ben tries to read what is Ada's", outcome: "" });
  const story = storyOf("4711", play);
  assert.match(story, /Seed 4711\n {3}1\. 1 minutes pass\n {3}2\. \(#5\) Ben tries/);
  assert.match(story, /Broken: Nobody reaches what is not theirs\n {6}Ben read what is Ada's$/);
});
