// Deeds of renters with machines: look, rent, bid, stop, limit, store, and move bytes.
import {
  closeOrder,
  dollars,
  EVERYBODY,
  NOTHING,
  numberOf,
  onRental,
  outcomeOf,
  payingPeople,
  personOf,
  RENTERS,
  someOf,
  textOf,
  type Picker,
  type DeedRules,
} from "./deeds.ts";
import { isFrozen, nanosIn, type Deed, type Args, type Case } from "./case.ts";
import type { CheatsWorld } from "./world.ts";

const BID_PRICES = [0.02, 0.5, 2, 30];

function drawLook(play: Case, pick: Picker): Args | undefined {
  const host = someOf(pick, [...play.machines.keys()]);
  return host === undefined ? undefined : { who: pick.one([...RENTERS, ...EVERYBODY]), host };
}

/** Draws a rental from the answers of earlier searches. */
function drawRent(play: Case, pick: Picker): Args | undefined {
  const shown = payingPeople(play).flatMap((person) => [...person.shown.keys()].map((key) => [person.name, key]));
  const found = someOf(pick, shown);
  if (found === undefined) return undefined;
  const [who = "", key = ""] = found;
  return { who, offer: key, disk: pick.one([10, 10, 100]), again: pick.one(["", "looks again and "]) };
}

export async function look(world: CheatsWorld, play: Case, { args }: Deed): Promise<string> {
  const machine = play.machines.get(textOf(args, "host"));
  if (machine === undefined) return NOTHING;
  const person = await personOf(world, play, textOf(args, "who"));
  const query = { machine_id: { eq: machine.host.machineId } };
  const [gpus, space, shared] = await Promise.all([
    world.ask(person.secret, "POST", "/bundles/", query),
    world.ask(person.secret, "POST", "/volumes/search/", query),
    machine.networkDiskId === undefined
      ? undefined
      : world.ask(person.secret, "POST", "/network_volumes/search/", query),
  ]);
  if (gpus.status !== 200) return outcomeOf(gpus);
  const host = textOf(args, "host");
  for (const offer of shared?.body.offers ?? []) {
    person.shownSpace.set(`${host} net`, { offerId: offer.id, price: nanosIn(offer.storage_cost) });
  }
  for (const offer of gpus.body.offers) {
    const prices = {
      gpu: nanosIn(offer.dph_base),
      disk: nanosIn(offer.storage_cost),
      up: nanosIn(offer.inet_up_cost),
      down: nanosIn(offer.inet_down_cost),
    };
    person.shown.set(`${host} ${offer.num_gpus}`, { offerId: offer.id, size: offer.num_gpus, prices });
  }
  for (const offer of space.body.offers) {
    person.shownSpace.set(host, { offerId: offer.id, price: nanosIn(offer.storage_cost) });
  }
  const prices = gpus.body.offers.map(
    (offer: { dph_base: number; num_gpus: number }) => `${offer.num_gpus} for $${offer.dph_base}`,
  );
  return prices.length === 0 ? "nothing is offered" : `offered: ${prices.toSorted().join(", ")} an hour`;
}

async function rent(world: CheatsWorld, play: Case, { args, label }: Deed): Promise<string> {
  const person = play.people.get(textOf(args, "who"));
  const [hostName = ""] = textOf(args, "offer").split(" ");
  if (person !== undefined && textOf(args, "again") !== "") {
    await look(world, play, { kind: "look", label, args: { who: person.name, host: hostName } });
  }
  const shown = person?.shown.get(textOf(args, "offer"));
  const machine = play.machines.get(hostName);
  if (person === undefined || shown === undefined || machine === undefined) return NOTHING;
  const diskGb = numberOf(args, "disk");
  const price = args["price"] === undefined ? {} : { price: numberOf(args, "price") };
  const body = { image: "busybox", disk: diskGb, ...price };
  const answer = await world.ask(person.secret, "PUT", `/asks/${shown.offerId}/`, body);
  const id = answer.body?.new_contract;
  // A bid that is too low is refused with an instance that waits.
  if (typeof id !== "number") return outcomeOf(answer);
  const gpu = args["price"] === undefined ? shown.prices.gpu : nanosIn(numberOf(args, "price"));
  const isBid = args["price"] !== undefined;
  const listed = machine.listedGpu * BigInt(shown.size);
  const nowMs = world.nowMs();
  play.rentals.set(label, {
    label,
    id,
    renter: person,
    host: machine.host,
    hostName,
    diskGb,
    agreed: [{ fromMs: nowMs, prices: { ...shown.prices, gpu }, gpuDue: isBid || gpu < listed ? gpu : listed }],
    orders: [{ fromMs: nowMs, untilMs: undefined }],
    rentedMs: nowMs,
    destroyedMs: undefined,
    isPrepaid: false,
    lossesMs: [],
    trafficLimits: [],
    innerKey: String(answer.body.instance_api_key),
    isStoppedByKey: false,
  });
  if (isFrozen(machine.owner)) play.reached.push(`${person.name} rented of ${hostName}, whose account is frozen`);
  return answer.status === 200 ? `instance ${id}` : `instance ${id} waits, ${outcomeOf(answer)}`;
}

const ofRentals: DeedRules = {
  stop: onRental({
    weight: 3,
    tell: ({ rental }) => `The renter stops ${rental}`,
    does: async (world, rental) => {
      const answer = await world.ask(rental.renter.secret, "PUT", `/instances/${rental.id}/`, { state: "stopped" });
      if (answer.status === 200) closeOrder(rental, world.nowMs());
      rental.isStoppedByKey &&= answer.status !== 200;
      return outcomeOf(answer);
    },
  }),
  start: onRental({
    weight: 3,
    tell: ({ rental }) => `The renter starts ${rental} again`,
    does: async (world, rental) => {
      const answer = await world.ask(rental.renter.secret, "PUT", `/instances/${rental.id}/`, { state: "running" });
      if (answer.status === 200 && rental.orders.at(-1)?.untilMs !== undefined) {
        rental.orders.push({ fromMs: world.nowMs(), untilMs: undefined });
      }
      rental.isStoppedByKey &&= answer.status !== 200;
      return outcomeOf(answer);
    },
  }),
  destroy: onRental({
    weight: 4,
    tell: ({ rental }) => `The renter destroys ${rental}`,
    does: async (world, rental) => {
      const answer = await world.ask(rental.renter.secret, "DELETE", `/instances/${rental.id}/`, {});
      if (answer.status === 200) {
        closeOrder(rental, world.nowMs());
        rental.destroyedMs = world.nowMs();
      }
      return outcomeOf(answer);
    },
  }),
  rebid: onRental({
    weight: 1,
    args: (pick) => ({ price: pick.one(BID_PRICES) }),
    tell: ({ rental, price }) => `The renter bids ${dollars(price)} an hour for ${rental}`,
    does: async (world, rental, args) => {
      const path = `/instances/bid_price/${rental.id}/`;
      const answer = await world.ask(rental.renter.secret, "PUT", path, {
        client_id: "me",
        price: numberOf(args, "price"),
      });
      const last = rental.agreed.at(-1);
      if (answer.status === 200 && last !== undefined) {
        const prices = { ...last.prices, gpu: nanosIn(numberOf(args, "price")) };
        rental.agreed.push({ fromMs: world.nowMs(), prices, gpuDue: prices.gpu });
      }
      return outcomeOf(answer);
    },
  }),
  prepay: onRental({
    weight: 1,
    args: (pick) => ({ amount: pick.one([1, 10, 50]) }),
    tell: ({ rental, amount }) => `The renter prepays ${dollars(amount)} for ${rental}`,
    does: async (world, rental, args) => {
      const path = `/instances/prepay/${rental.id}/`;
      const answer = await world.ask(rental.renter.secret, "PUT", path, { amount: numberOf(args, "amount") });
      if (answer.status === 200) rental.isPrepaid = true;
      return outcomeOf(answer);
    },
  }),
  reboot: onRental({
    weight: 1,
    tell: ({ rental }) => `The renter reboots ${rental}`,
    does: async (world, rental) =>
      outcomeOf(await world.ask(rental.renter.secret, "PUT", `/instances/reboot/${rental.id}/`, {})),
  }),
  recycle: onRental({
    weight: 1,
    tell: ({ rental }) => `The renter has the container of ${rental} made again`,
    does: async (world, rental) =>
      outcomeOf(await world.ask(rental.renter.secret, "PUT", `/instances/recycle/${rental.id}/`, {})),
  }),
  moveBytes: onRental({
    weight: 1,
    args: (pick) => ({ gigabytes: pick.one([1, 5]) }),
    tell: ({ rental, gigabytes }) => `${rental} sends and receives ${gigabytes} GB within two minutes`,
    does: async (world, rental, args) => {
      const fromMs = world.nowMs();
      // Whole bytes in each millisecond.
      const perSecond = numberOf(args, "gigabytes") * 8_000_000;
      const rates = { receivedPerSecond: perSecond, sentPerSecond: perSecond };
      rental.host.flows.push({ instanceId: rental.id, fromMs, untilMs: fromMs + 125_000, ...rates });
      return "";
    },
  }),
};

export const renterDeeds: DeedRules = {
  look: {
    weight: 6,
    draw: drawLook,
    tell: ({ who, host }) => `${who} looks at what ${host} offers`,
    act: look,
  },
  rent: {
    weight: 9,
    draw: drawRent,
    tell: ({ who, offer, disk, again }) =>
      `${who} ${again}rents ${gpusOf(offer)} at the listed price, with ${disk} GB of disk`,
    act: rent,
  },
  bid: {
    weight: 2,
    draw: (play, pick) => {
      const found = drawRent(play, pick);
      return found && { ...found, price: pick.one(BID_PRICES) };
    },
    tell: ({ who, offer, price, again = "" }) => `${who} ${again}bids ${dollars(price)} an hour for ${gpusOf(offer)}`,
    act: rent,
  },
  ...ofRentals,
};

function gpusOf(offer: string | number | undefined): string {
  const [host, size] = String(offer).split(" ");
  return `${size} GPU of ${host}`;
}
