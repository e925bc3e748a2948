// How deeds are drawn, done and told.
import type { Person, Rental, Machine, Deed, Args, Case } from "./case.ts";
import type { TestAnswer } from "../../support/network/http.ts";
import type { CheatsWorld } from "./world.ts";

/** The random choices of a seed. */
export type Picker = {
  readonly number: () => number;
  one<T>(list: readonly T[]): T;
};

export type DeedRule = {
  /** The chance that the deed is drawn, against those of the others that can be done. */
  readonly weight: number;
  /** Draws the arguments of a deed; undefined where it makes no sense now. `label` names its result. */
  draw(play: Case, pick: Picker, label: string): Args | undefined;
  /** A sentence of who does what. */
  tell(args: Args): string;
  /** Does the deed and returns its result; an empty text when it was done and there is no more to say. */
  act(world: CheatsWorld, play: Case, deed: Deed): Promise<string>;
};

export type DeedRules = Readonly<Record<string, DeedRule>>;

export const RENTERS = ["Ada", "Ben"] as const;
export const HOSTS = ["Hugo", "Hana"] as const;
export const EVERYBODY = [...RENTERS, ...HOSTS] as const;

export function pickerOf(random: () => number): Picker {
  return {
    number: random,
    one: (list) => {
      const found = list[Math.floor(random() * list.length)];
      if (found === undefined) throw new Error("nothing to pick from");
      return found;
    },
  };
}

/** One of the list, or nothing where it is empty. */
export function someOf<T>(pick: Picker, list: readonly T[]): T | undefined {
  return list.length === 0 ? undefined : pick.one(list);
}

export function textOf(args: Args, name: string): string {
  return String(args[name] ?? "");
}

export function numberOf(args: Args, name: string): number {
  return Number(args[name] ?? 0);
}

/** The person with this name in this case; an account is made at the first meeting. */
export async function personOf(world: CheatsWorld, play: Case, name: string): Promise<Person> {
  const known = play.people.get(name);
  if (known !== undefined) return known;
  const made = await world.person(name);
  play.people.set(name, made);
  return made;
}

/** The meaning of an answer in a story: empty when the deed was done. */
export function outcomeOf({ status, body, text }: TestAnswer): string {
  if (status === 200) return "";
  return `refused (${status} ${String(body?.error ?? text.slice(0, 80))})`;
}

/** The outcome of a deed whose object is missing, because the deed that makes it was left out or refused. */
export const NOTHING = "nothing to do";

export function liveRentals(play: Case): readonly Rental[] {
  return [...play.rentals.values()].filter(({ destroyedMs }) => destroyedMs === undefined);
}

/** People who have ever had credit: all others are refused everything that costs money. */
export function payingPeople({ people }: Case): readonly Person[] {
  return [...people.values()].filter(({ payments, grantedNanos }) => payments.length > 0 || grantedNanos > 0n);
}

/** A live rental as the arguments of a deed. */
export function drawRental(play: Case, pick: Picker): Args | undefined {
  const found = someOf(pick, liveRentals(play));
  return found === undefined ? undefined : { rental: found.label };
}

export function rentalOf(play: Case, args: Args): Rental | undefined {
  const found = play.rentals.get(textOf(args, "rental"));
  return found?.destroyedMs === undefined ? found : undefined;
}

/** Ends the order of a rental: nobody wants it to run any more. */
export function closeOrder({ orders }: Rental, nowMs: number): void {
  const last = orders.at(-1);
  if (last !== undefined) last.untilMs ??= nowMs;
}

export function dollars(amount: number | string | undefined): string {
  return `$${String(amount ?? 0)}`;
}

type RentalDeed = Pick<DeedRule, "weight" | "tell"> & {
  readonly args?: (pick: Picker) => Args;
  readonly does: (world: CheatsWorld, rental: Rental, args: Args) => Promise<string>;
};

/** The rules of a deed of a renter on a live rental. */
export function onRental({ weight, tell, args: drawArgs = () => ({}), does }: RentalDeed): DeedRule {
  return {
    weight,
    tell,
    draw: (play, pick) => {
      const found = drawRental(play, pick);
      return found && { ...found, ...drawArgs(pick) };
    },
    act: async (world, play, { args }) => {
      const rental = rentalOf(play, args);
      return rental === undefined ? NOTHING : does(world, rental, args);
    },
  };
}

/** A machine that is there, as the arguments of a deed. */
export function drawPresent(play: Case, pick: Picker): Args | undefined {
  const present = [...play.machines].filter(([, { host }]) => !host.isAway).map(([name]) => name);
  const host = someOf(pick, present);
  return host === undefined ? undefined : { host };
}

export function machineOf(play: Case, args: Args): Machine | undefined {
  return play.machines.get(textOf(args, "host"));
}

export function presentOf(play: Case, args: Args): Machine | undefined {
  const machine = machineOf(play, args);
  return machine?.host.isAway === false ? machine : undefined;
}
