// The key inside a container, in the hands of the host who can read it: what it may do to its own instance, and no more.
import { closeOrder, drawRental, NOTHING, outcomeOf, rentalOf, type DeedRules } from "./deeds.ts";
import type { Case, Deed, Rental } from "./case.ts";
import type { CheatsWorld } from "./world.ts";

/** A live rental whose host is somebody else than its renter, with the key that the host can read in it. */
function heldOf(play: Case, { args }: Deed): { readonly rental: Rental; readonly innerKey: string } | undefined {
  const rental = rentalOf(play, args);
  const host = rental && [...play.machines.values()].find((machine) => machine.host === rental.host)?.owner;
  if (rental?.innerKey === undefined || host === rental.renter) return undefined;
  return { rental, innerKey: rental.innerKey };
}

/** The rest of a used-up deposit in dollars: less than a millisecond costs. */
const USED_UP = 0.001;

/** True while the rental's deposit lasts: its end would bring its host the discount. */
async function isPrepaid(world: CheatsWorld, { id, renter }: Rental): Promise<boolean> {
  const answer = await world.ask(renter.secret, "GET", `/instances/balance/${id}/`);
  return answer.status === 200 && Number(answer.body.deposit) > USED_UP;
}

/** True when a balance, a cap, a limit or a freeze stopped the rental, and nobody has started it since. */
async function isStoppedByRule(world: CheatsWorld, { id }: Rental): Promise<boolean> {
  const { rows } = await world.app.env.pool.query<{ is_stopped: boolean }>(
    `select exists (select from instance_events e where e.instance_id = $1
       and e.cause in ('balance_empty', 'cap_reached', 'traffic_limit_reached', 'account_frozen')
       and not exists (select from instance_events n where n.instance_id = $1 and n.id > e.id
         and n.to_phase in ('starting', 'scheduled'))) as is_stopped`,
    [id],
  );
  return rows[0]?.is_stopped === true;
}

function isOrdered({ orders }: Rental): boolean {
  return orders.at(-1)?.untilMs === undefined;
}

export const innerKeyDeeds: DeedRules = {
  innerStop: {
    weight: 1,
    draw: (play, pick) => drawRental(play, pick),
    tell: ({ rental }) => `The host of ${rental} stops it with the key inside its container`,
    act: async (world, play, deed) => {
      const held = heldOf(play, deed);
      if (held === undefined) return NOTHING;
      const { rental, innerKey } = held;
      const isKept = await isPrepaid(world, rental);
      const answer = await world.ask(innerKey, "PUT", `/instances/${rental.id}/`, { state: "stopped" });
      if (answer.status !== 200) return outcomeOf(answer);
      if (isKept) play.reached.push(`The key inside ${rental.label} stopped it although it is prepaid`);
      rental.isStoppedByKey ||= isOrdered(rental) && !(await isStoppedByRule(world, rental));
      closeOrder(rental, world.nowMs());
      return "";
    },
  },
  innerStart: {
    weight: 3,
    draw: (play, pick) => drawRental(play, pick),
    tell: ({ rental }) => `The host of ${rental} starts and reboots it with the key inside its container`,
    act: async (world, play, deed) => {
      const held = heldOf(play, deed);
      if (held === undefined) return NOTHING;
      const { rental, innerKey } = held;
      const { id, label } = rental;
      const isKept = (!isOrdered(rental) && !rental.isStoppedByKey) || (await isStoppedByRule(world, rental));
      const rebooted = await world.ask(innerKey, "PUT", `/instances/reboot/${id}/`, {});
      if (isKept && rebooted.status === 200) play.reached.push(`The key inside ${label} rebooted it while stopped`);
      const started = await world.ask(innerKey, "PUT", `/instances/${id}/`, { state: "running" });
      if (started.status !== 200) return outcomeOf(started);
      if (isKept) play.reached.push(`The key inside ${label} started it, and had not stopped it`);
      if (!isOrdered(rental)) rental.orders.push({ fromMs: world.nowMs(), untilMs: undefined });
      rental.isStoppedByKey = false;
      return "";
    },
  },
  innerDestroy: {
    weight: 1,
    draw: (play, pick) => drawRental(play, pick),
    tell: ({ rental }) => `The host of ${rental} destroys it with the key inside its container`,
    act: async (world, play, deed) => {
      const held = heldOf(play, deed);
      if (held === undefined) return NOTHING;
      const { rental, innerKey } = held;
      const isKept = await isPrepaid(world, rental);
      const answer = await world.ask(innerKey, "DELETE", `/instances/${rental.id}/`, {});
      if (answer.status !== 200) return outcomeOf(answer);
      if (isKept) play.reached.push(`The key inside ${rental.label} destroyed it although it is prepaid`);
      closeOrder(rental, world.nowMs());
      rental.destroyedMs = world.nowMs();
      return "";
    },
  },
  innerLimits: {
    weight: 1,
    draw: (play, pick) => drawRental(play, pick),
    tell: ({ rental }) =>
      `The host of ${rental} tries to raise its limits, to let itself in and to make it again with the key inside its container`,
    act: async (world, play, deed) => {
      const held = heldOf(play, deed);
      if (held === undefined) return NOTHING;
      const { innerKey } = held;
      const { id, label, renter } = held.rental;
      const caps = await world.ask(renter.secret, "GET", "/caps/");
      const own: readonly { readonly id: number }[] = caps.body?.caps ?? [];
      const tries = [
        ["PUT", `/instances/${id}/`, { traffic_limit: 50 }],
        ["PUT", `/instances/${id}/`, { traffic_limit: null, state: "running" }],
        ["PUT", "/caps/", { scope: "instance", scope_id: id, period: "total", limit: 500 }],
        ["PUT", "/caps/", { scope: "account", period: "total", limit: 500 }],
        ...own.map((cap) => ["DELETE", `/caps/${cap.id}/`, {}] as const),
        ["PUT", `/instances/recycle/${id}/`, {}],
        ["POST", `/instances/${id}/ssh/`, { ssh_key: "ssh-ed25519 AAAA host" }],
        ["PUT", "/instances/", { IDs: [id], state: "running" }],
      ] as const;
      for (const [method, path, body] of tries) {
        const { status } = await world.ask(innerKey, method, path, body);
        if (status === 200) play.reached.push(`The key inside ${label} of ${renter.name} did ${method} ${path}`);
      }
      return "";
    },
  },
};
