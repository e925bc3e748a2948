import { NO_GPU } from "./offer-fields.ts";
import type { OfferIndex } from "./offer-index.ts";

/** The names of GPUs on the market, sorted. */
export function listGpuNames({ machines }: OfferIndex): readonly string[] {
  return [...machines.texts("gpu_name").dictionary.values()].filter((name) => name !== NO_GPU).toSorted();
}

/** Each name with the memory that every such GPU has at least. */
export function listGpuTypes(index: OfferIndex): readonly { readonly name: string; readonly ramMb: number }[] {
  const { codes, dictionary } = index.machines.texts("gpu_name");
  const ram = index.machines.numbers("gpu_ram");
  const least = new Float64Array(dictionary.end).fill(Infinity);
  const slots = new Int32Array(index.machines.end);
  const count = index.listMachines(slots);
  for (let place = 0; place < count; place += 1) {
    const slot = slots[place] ?? 0;
    const code = codes[slot] ?? 0;
    least[code] = Math.min(least[code] ?? Infinity, ram[slot] ?? Infinity);
  }
  return listGpuNames(index).map((name) => ({ name, ramMb: least[dictionary.find(name) ?? 0] ?? 0 }));
}
