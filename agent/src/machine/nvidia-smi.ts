import { estimateDlperf, findGpuModel } from "../../../protocol/index.ts";
import type { GpuFacts } from "../wire/messages.ts";
import { canonicalGpuName } from "./gpu-names.ts";

/** Fields in the order in which `parseGpuQuery` reads them. */
export const GPU_QUERY =
  "uuid,index,name,memory.total,compute_cap,power.max_limit,pcie.link.width.max,pcie.link.gen.max,driver_version,display_active";

export type NvidiaGpus = {
  readonly gpus: readonly GpuFacts[];
  readonly driverVersion: string;
  readonly pciGen: number;
};

/**
 * Reads what `nvidia-smi --query-gpu=<GPU_QUERY> --format=csv,noheader,nounits` prints. Rates that the tool does not
 * tell come from the table of models, and are 0 for a model that is not in it. Lines it cannot read are left out.
 */
export function parseGpuQuery(text: string): NvidiaGpus {
  const gpus: GpuFacts[] = [];
  let driverVersion = "";
  let pciGen = 0;
  for (const line of text.split("\n")) {
    const fields = line.split(",").map((field) => field.trim());
    const [uuid, index, printed, memory, capability, power, lanes, gen, driver, display] = fields;
    if (!uuid?.startsWith("GPU-") || printed === undefined) continue;
    const name = canonicalGpuName(printed);
    const model = findGpuModel(name);
    const memoryGbPerS = model?.memoryGbPerS ?? 0;
    const tflops = model?.tflops ?? 0;
    gpus.push({
      uuid,
      index: wholeNumber(index),
      name,
      memoryMb: wholeNumber(memory) || (model?.memoryMb ?? 0),
      computeCap: Math.round(number(capability) * 100) || (model?.computeCap ?? 0),
      memoryGbPerS,
      maxPowerW: number(power) || (model?.maxPowerW ?? 0),
      tflops,
      dlperf: estimateDlperf(tflops, memoryGbPerS),
      pciLanes: wholeNumber(lanes),
      nvlinkGbPerS: model?.nvlinkGbPerS ?? 0,
      ...displayOf(display),
      isDeclared: false,
    });
    driverVersion = driver ?? driverVersion;
    pciGen = Math.max(pciGen, number(gen));
  }
  return { gpus, driverVersion, pciGen };
}

/**
 * The rate of each GPU's active links in both directions together, by uuid, in GB/s: the tool prints the rate of one
 * direction of each link. A GPU without active links has no entry.
 */
export function parseNvlinks(text: string): ReadonlyMap<string, number> {
  const rates = new Map<string, number>();
  let uuid: string | undefined;
  for (const line of text.split("\n")) {
    uuid = /^GPU \d+: .*\(UUID: (GPU-[0-9a-f-]+)\)/i.exec(line)?.[1] ?? uuid;
    const rate = number(/^\s*Link \d+: ([\d.]+) GB\/s/.exec(line)?.[1]);
    if (uuid !== undefined && rate > 0) rates.set(uuid, (rates.get(uuid) ?? 0) + 2 * rate);
  }
  return new Map([...rates].map(([gpu, rate]) => [gpu, Math.round(rate)]));
}

/** Boards that have no display, or whose drivers do not tell, print another word. */
function displayOf(text: string | undefined): Pick<GpuFacts, "isDisplayActive"> {
  return text === "Enabled" || text === "Disabled" ? { isDisplayActive: text === "Enabled" } : {};
}

/**
 * The highest temperature at which each GPU may work, by its index, in °C. Boards that tell only how far they are below it
 * have no entry.
 */
export function parseMaxTemperatures(text: string): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  let index = -1;
  for (const line of text.split("\n")) {
    if (/^GPU [0-9a-f]+:[0-9a-f]{2}:/i.test(line)) index += 1;
    const degrees = number(/^\s*GPU Max Operating Temp\s*:\s*(\d+) C/.exec(line)?.[1]);
    if (index >= 0 && degrees > 0) found.set(index, degrees);
  }
  return found;
}

/** The highest CUDA version of the driver, which only the tool's human form tells: `CUDA Version: 12.8`. */
export function parseCudaVersion(text: string): number {
  return number(/CUDA (?:UMD )?Version:\s*(\d+\.\d+)/.exec(text)?.[1]);
}

/**
 * A positive number that the tool printed; 0 for anything else, such as `[N/A]` for a fact that a board does not tell.
 */
function number(text: string | undefined): number {
  const value = Number(text);
  return Number.isFinite(value) && value > 0 ? value : 0;
}

function wholeNumber(text: string | undefined): number {
  return Math.round(number(text));
}
