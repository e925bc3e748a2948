import { asId, type MachineId, type OfferId } from "../../../../../base/ids.ts";
import {
  MACHINE_FIELDS,
  MACHINE_MARKS,
  OFFER_FIELDS,
  OFFER_MARKS,
  singleOffers,
  type OfferedMachine,
  type SingleOffer,
} from "./offer-fields.ts";
import { Scratch } from "./scratch.ts";
import { SlotTable } from "./slot-table.ts";

type MachineColumn = keyof typeof MACHINE_FIELDS | keyof typeof MACHINE_MARKS;
type OfferColumn = keyof typeof OFFER_FIELDS | keyof typeof OFFER_MARKS;

const NONE = -1;
const FIRST_CAPACITY = 64;

/**
 * All live offers in columns. Values that the offers of a machine share are stored once, in a row for the machine, to
 * which its offers are chained: a condition on machines is decided before any of their offers is read.
 */
export class OfferIndex {
  readonly machines = new SlotTable<OfferedMachine, MachineColumn>({ ...MACHINE_FIELDS, ...MACHINE_MARKS });
  readonly offers = new SlotTable<SingleOffer, OfferColumn>({ ...OFFER_FIELDS, ...OFFER_MARKS });
  /** The machine's slot of each offer's slot. */
  machineOf = new Int32Array(FIRST_CAPACITY).fill(NONE);
  /** Working memory of the one search that runs at a time. */
  readonly scratch = new Scratch();
  /** Answer texts of machines by slot, kept until the machine changes. */
  readonly machineTexts = new Map<number, string>();
  #firstOffer = new Int32Array(FIRST_CAPACITY).fill(NONE);
  #nextOffer = new Int32Array(FIRST_CAPACITY).fill(NONE);
  readonly #slots = new Map<MachineId, number>();
  readonly #offerSlots = new Map<OfferId, number>();

  get machineIds(): Iterable<MachineId> {
    return this.#slots.keys();
  }

  slotOf(id: MachineId): number | undefined {
    return this.#slots.get(id);
  }

  /** The bundle of a live offer, as searches show it. */
  bundleOf(id: OfferId): number | undefined {
    const offer = this.#offerSlots.get(id);
    return offer === undefined ? undefined : this.offers.numbers("bundle_id")[offer];
  }

  /** The live offers of a machine. */
  offerIdsOf(id: MachineId): readonly OfferId[] {
    const ids: OfferId[] = [];
    const machine = this.#slots.get(id);
    let offer = machine === undefined ? NONE : (this.#firstOffer[machine] ?? NONE);
    for (; offer !== NONE; offer = this.#nextOffer[offer] ?? NONE) {
      ids.push(asId<OfferId>(this.offers.numbers("id")[offer] ?? 0));
    }
    return ids;
  }

  /** Stores the present state of a machine and its offers; a machine without offers is removed. */
  replace(offered: OfferedMachine): void {
    const { id } = offered.machine;
    this.remove(id);
    if (offered.offers.length === 0) return;
    const machine = this.machines.insert(offered);
    this.#firstOffer = fitted(this.#firstOffer, machine);
    this.#slots.set(id, machine);
    let next = NONE;
    // In reverse, so that the chain has the original order.
    for (const single of singleOffers(offered).toReversed()) {
      const offer = this.offers.insert(single);
      this.machineOf = fitted(this.machineOf, offer);
      this.#nextOffer = fitted(this.#nextOffer, offer);
      this.machineOf[offer] = machine;
      this.#offerSlots.set(single.offer.id, offer);
      this.#nextOffer[offer] = next;
      next = offer;
    }
    this.#firstOffer[machine] = next;
  }

  remove(id: MachineId): void {
    const machine = this.#slots.get(id);
    if (machine === undefined) return;
    this.#slots.delete(id);
    for (let offer = this.#firstOffer[machine] ?? NONE; offer !== NONE; offer = this.#nextOffer[offer] ?? NONE) {
      this.#forget(offer);
    }
    this.#firstOffer[machine] = NONE;
    this.machineTexts.delete(machine);
    this.machines.remove(machine);
  }

  /** Removes one offer before its machine is read again. */
  removeOffer(id: OfferId): void {
    const offer = this.#offerSlots.get(id);
    if (offer === undefined) return;
    const machine = this.machineOf[offer] ?? NONE;
    const next = this.#nextOffer[offer] ?? NONE;
    if (this.#firstOffer[machine] === offer) this.#firstOffer[machine] = next;
    else {
      let before = this.#firstOffer[machine] ?? NONE;
      while (this.#nextOffer[before] !== offer) before = this.#nextOffer[before] ?? NONE;
      this.#nextOffer[before] = next;
    }
    this.#forget(offer);
  }

  #forget(offer: number): void {
    this.#offerSlots.delete(asId<OfferId>(this.offers.numbers("id")[offer] ?? 0));
    this.machineOf[offer] = NONE;
    this.offers.remove(offer);
  }

  /** Writes the slots of all machines to `into` and returns how many there are. */
  listMachines(into: Int32Array): number {
    const firstOffer = this.#firstOffer;
    const { machines } = this;
    const { end } = machines;
    let count = 0;
    for (let machine = 0; machine < end; machine += 1) {
      if (firstOffer[machine] !== NONE) into[count++] = machine;
    }
    return count;
  }

  /** Writes the slots of the offers of these machines to `into` and returns how many there are. */
  listOffers(machines: Int32Array, machineCount: number, into: Int32Array): number {
    const firstOffer = this.#firstOffer;
    const nextOffer = this.#nextOffer;
    let count = 0;
    for (let index = 0; index < machineCount; index += 1) {
      let offer = firstOffer[machines[index] ?? 0] ?? NONE;
      while (offer !== NONE) {
        into[count++] = offer;
        offer = nextOffer[offer] ?? NONE;
      }
    }
    return count;
  }
}

/** The same array, or one of twice the size when this slot is beyond its end. */
function fitted(values: Int32Array<ArrayBuffer>, slot: number): Int32Array<ArrayBuffer> {
  if (slot < values.length) return values;
  const grown = new Int32Array(Math.max(values.length * 2, slot + 1)).fill(NONE);
  grown.set(values);
  return grown;
}
