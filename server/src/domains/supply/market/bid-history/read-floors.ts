import { asId, type MachineId } from "../../../../base/ids.ts";
import { parseDollars } from "../../../../base/money.ts";
import type { OfferIndex } from "../search/rules/offer-index.ts";
import type { MachineFloor, ModelFloor } from "./store.ts";

/** Models that are kept: a name is any text that a host sends. Models with the most offers come first. */
const MODELS_MAX = 300;

/** Floors by the machine and the number of devices, and by the model and the number of devices. */
export type Floors = {
  readonly machines: ReadonlyMap<string, MachineFloor>;
  readonly models: ReadonlyMap<string, ModelFloor>;
};

export const machineKey = ({ machineId, deviceCount }: Pick<MachineFloor, "machineId" | "deviceCount">) =>
  `${deviceCount} ${machineId}`;
export const modelKey = ({ gpuName, deviceCount }: Pick<ModelFloor, "gpuName" | "deviceCount">) =>
  `${deviceCount} ${gpuName}`;

/**
 * The lowest bids that run now, of all machines with GPUs that take new rentals. A machine that is offline, rests or is not
 * listed has none, and neither has a number of devices that is not offered: idle GPUs behind a closed door are no supply.
 */
export function readFloors(index: OfferIndex, now: Date): Floors {
  const machines = new Map<string, MachineFloor>();
  const byModel = new Map<string, MachineFloor[]>();
  const { dictionary, codes } = index.machines.texts("gpu_name");
  const ids = index.machines.numbers("machine_id");
  const [opens, closes] = [index.machines.numbers("open_from_ms"), index.machines.numbers("open_until_ms")];
  const [sizes, bids] = [index.offers.numbers("num_gpus"), index.offers.numbers("min_bid")];
  for (const offer of listOffers(index)) {
    const slot = index.machineOf[offer] ?? 0;
    const deviceCount = sizes[offer] ?? 0;
    const isOpen = (opens[slot] ?? Infinity) <= now.getTime() && now.getTime() < (closes[slot] ?? 0);
    if (!isOpen || deviceCount === 0) continue;
    const floorNanos = parseDollars(bids[offer] ?? 0);
    const floor = { machineId: asId<MachineId>(ids[slot] ?? 0), deviceCount, floorNanos };
    machines.set(machineKey(floor), floor);
    const gpuName = dictionary.textOf(codes[slot] ?? 0) ?? "";
    const model = byModel.get(gpuName) ?? [];
    model.push(floor);
    byModel.set(gpuName, model);
  }
  return { machines, models: lowestOf(byModel) };
}

function listOffers(index: OfferIndex): Int32Array {
  const slots = new Int32Array(index.machines.end);
  const offers = new Int32Array(index.offers.end);
  return offers.subarray(0, index.listOffers(slots, index.listMachines(slots), offers));
}

function lowestOf(byModel: ReadonlyMap<string, readonly MachineFloor[]>): ReadonlyMap<string, ModelFloor> {
  const lowest = new Map<string, ModelFloor>();
  const common = [...byModel].toSorted(([, a], [, b]) => b.length - a.length).slice(0, MODELS_MAX);
  for (const [gpuName, floors] of common) {
    for (const { deviceCount, floorNanos } of floors) {
      const key = modelKey({ gpuName, deviceCount });
      const known = lowest.get(key)?.floorNanos;
      if (floorNanos === undefined || (known !== undefined && known <= floorNanos)) continue;
      lowest.set(key, { gpuName, deviceCount, floorNanos });
    }
  }
  return lowest;
}
