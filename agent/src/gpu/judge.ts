import type { GpuHealth } from "../wire/messages.ts";
import { printedName, sampleIs, sampleNumber, type ColumnName, type GpuSample, type Look } from "./sample.ts";
import type { Xid } from "./xid.ts";

/** Looks in a row for which the board's own protection slows it down, before that is more than a warm moment. */
export const HOT_LOOKS = 4;
/**
 * Looks in a row for which the driver's gentler limit slows it down: more of them, since air-cooled boards touch it
 * under any long load.
 */
export const WARM_LOOKS = 30;
/** Looks in a row, all of them under load, with a slower bus than this board had before. */
export const LINK_LOOKS = 12;
/** Clean looks in a row after which a GPU counts as well again, so that none flaps in and out of the market. */
export const CLEAN_LOOKS = 3;
/** At this load a board that saves power has brought its link to full speed. */
const BUSY_PERCENT = 50;
/** Drivers differ a little in what they keep of the memory for themselves. */
const MEMORY_SHARE = 0.97;

/** Telemetry that must be readable where a board has it: with any of it gone, nobody knows how the GPU is. */
const VITAL: readonly ColumnName[] = [
  "uuid",
  "temperature",
  "memory",
  "eccMode",
  "eccSinceLoad",
  "eccEver",
  "remapPending",
  "remapFailure",
  "retirePending",
  "hwSlowdown",
  "hwThermal",
  "powerBrake",
  "swThermal",
  "recovery",
];
/** Counters that come and go with the mode of the memory, which is judged by itself. */
const BY_ECC_MODE: ReadonlySet<ColumnName> = new Set(["eccSinceLoad", "eccEver", "retirePending"]);

type Kind = "tool" | "lost" | "telemetry" | "memory" | "mode" | "heat" | "link";
type Condition = { readonly kind: Kind; readonly text: string };

/** Facts of one GPU that are kept from look to look. */
export type GpuHistory = {
  readonly bus: string;
  readonly driverVersion: string;
  /** True once it was looked at; before that its state is unknown. */
  readonly isSeen: boolean;
  readonly condition: Condition | null;
  readonly cleanLooks: number;
  readonly hotLooks: number;
  readonly warmLooks: number;
  readonly slowLinkLooks: number;
  /** Columns that held a value since this driver runs. */
  readonly told: ReadonlySet<ColumnName>;
  readonly bestGen: number;
  readonly bestWidth: number;
  readonly bestMemory: number;
  readonly utilizationPercent: number | null;
  readonly temperatureC: number | null;
  readonly usedMemoryMb: number | null;
  readonly powerW: number | null;
};

export const NEW_GPU: GpuHistory = {
  bus: "",
  driverVersion: "",
  isSeen: false,
  condition: null,
  cleanLooks: 0,
  hotLooks: 0,
  warmLooks: 0,
  slowLinkLooks: 0,
  told: new Set(),
  bestGen: 0,
  bestWidth: 0,
  bestMemory: 0,
  utilizationPercent: null,
  temperatureC: null,
  usedMemoryMb: null,
  powerW: null,
};

/** The history of one GPU after one look at the machine's GPUs. */
export function judge(history: GpuHistory, uuid: string, look: Look): GpuHistory {
  if (look.kind === "failure") return withoutSample(history, { kind: "tool", text: look.reason });
  const sample = look.gpus.find((gpu) => gpu.uuid === uuid);
  const remark = look.remarks.get(sample?.bus ?? history.bus);
  if (!sample || remark !== undefined) {
    const text = remark ?? "the GPU is missing: it has fallen off the bus or was taken out";
    return withoutSample({ ...history, bus: sample?.bus ?? history.bus }, { kind: "lost", text });
  }
  return judgeSample(history.driverVersion === sample.driverVersion ? history : forgetDriver(history), sample);
}

/** The driver was loaded again: its old faults are over, and the next look tells if the GPU is well. */
export function judgeReload(history: GpuHistory): GpuHistory {
  if (!history.isSeen) return history;
  return withoutSample(forgetDriver(history), {
    kind: "tool",
    text: "the driver was just loaded: the GPU is being checked",
  });
}

function withoutSample(history: GpuHistory, condition: Condition): GpuHistory {
  const streaks = { cleanLooks: 0, hotLooks: 0, warmLooks: 0, slowLinkLooks: 0 };
  const readings = { utilizationPercent: null, temperatureC: null, usedMemoryMb: null, powerW: null };
  return { ...history, ...streaks, isSeen: true, condition, ...readings };
}

/** The history without facts that depend on the driver: another one reports other columns of the same board. */
function forgetDriver(history: GpuHistory): GpuHistory {
  return { ...history, told: new Set(), bestGen: 0, bestWidth: 0, bestMemory: 0 };
}

function judgeSample(history: GpuHistory, sample: GpuSample): GpuHistory {
  const grown = grow(history, sample);
  const condition = findCondition(grown, history.told, sample);
  // Heat is reported once, with the temperature of its beginning: otherwise each degree would be a change on the
  // market.
  const isSameHeat = condition?.kind === "heat" && grown.condition?.kind === "heat";
  if (condition) return { ...grown, condition: isSameHeat ? grown.condition : condition, cleanLooks: 0 };
  if (grown.condition === null) return grown;
  const isStillWarm = grown.condition.kind === "heat" && grown.hotLooks + grown.warmLooks > 0;
  const cleanLooks = isStillWarm ? 0 : grown.cleanLooks + 1;
  return cleanLooks >= CLEAN_LOOKS ? { ...grown, condition: null, cleanLooks: 0 } : { ...grown, cleanLooks };
}

function grow(history: GpuHistory, sample: GpuSample): GpuHistory {
  const told = new Set(history.told);
  for (const column of VITAL) if (sample.readings[column].kind === "value") told.add(column);
  const isHot = sampleIs(sample, "hwThermal") || sampleIs(sample, "powerBrake") || sampleIs(sample, "hwSlowdown");
  const isWarm = isHot || sampleIs(sample, "swThermal");
  const bestGen = Math.max(history.bestGen, sampleNumber(sample, "linkGen") ?? 0);
  const bestWidth = Math.max(history.bestWidth, sampleNumber(sample, "linkWidth") ?? 0);
  const utilization = sampleNumber(sample, "utilization");
  const isBusy = utilization !== null && utilization >= BUSY_PERCENT;
  const isSlow =
    (sampleNumber(sample, "linkGen") ?? bestGen) < bestGen ||
    (sampleNumber(sample, "linkWidth") ?? bestWidth) < bestWidth;
  return {
    ...history,
    bus: sample.bus === "" ? history.bus : sample.bus,
    driverVersion: sample.driverVersion,
    isSeen: true,
    told,
    bestGen,
    bestWidth,
    bestMemory: Math.max(history.bestMemory, sampleNumber(sample, "memory") ?? 0),
    hotLooks: isHot ? history.hotLooks + 1 : 0,
    warmLooks: isWarm ? history.warmLooks + 1 : 0,
    // While it rests nothing is learnt about its link.
    slowLinkLooks: isBusy ? (isSlow ? history.slowLinkLooks + 1 : 0) : history.slowLinkLooks,
    utilizationPercent: utilization === null ? null : Math.min(100, Math.max(0, utilization)),
    temperatureC: sampleNumber(sample, "temperature"),
    usedMemoryMb: sampleNumber(sample, "usedMemory"),
    powerW: sampleNumber(sample, "power"),
  };
}

/** The first thing that is wrong, the gravest kinds first. */
function findCondition(history: GpuHistory, told: ReadonlySet<ColumnName>, sample: GpuSample): Condition | undefined {
  return (
    telemetryCondition(told, sample) ??
    memoryCondition(history, sample) ??
    modeCondition(sample) ??
    streakCondition(history, sample)
  );
}

function telemetryCondition(told: ReadonlySet<ColumnName>, { readings }: GpuSample): Condition | undefined {
  const said = Object.values(readings).find(
    (reading) => reading.kind === "unreadable" && /reset|lost/i.test(reading.text),
  );
  if (said?.kind === "unreadable") return { kind: "lost", text: `the driver says: ${said.text}` };
  for (const column of VITAL) {
    const reading = readings[column];
    const name = printedName(column);
    if (reading.kind === "unreadable") {
      return { kind: "telemetry", text: `nvidia-smi cannot read ${name}: ${reading.text}` };
    }
    if (reading.kind === "absent" && told.has(column) && !BY_ECC_MODE.has(column)) {
      return { kind: "telemetry", text: `nvidia-smi does not tell ${name} any more` };
    }
  }
  const isEcc = readings.eccMode.kind === "value" && readings.eccMode.text === "Enabled";
  return isEcc && readings.eccSinceLoad.kind === "absent"
    ? { kind: "telemetry", text: "ECC is enabled and nvidia-smi does not tell its error counters" }
    : undefined;
}

function memoryCondition(history: GpuHistory, sample: GpuSample): Condition | undefined {
  const count = sampleNumber(sample, "eccSinceLoad") ?? 0;
  const text = sampleIs(sample, "remapFailure")
    ? "a bad row of the memory could not be replaced: the board has to be exchanged"
    : count > 0
      ? `${count} uncorrectable memory error${count === 1 ? "" : "s"} since the driver was loaded: reset the GPU`
      : sampleIs(sample, "remapPending")
        ? "a bad row of the memory waits to be replaced: reset the GPU"
        : sampleIs(sample, "retirePending")
          ? "a bad page of the memory waits to be retired: load the driver again"
          : undefined;
  if (text !== undefined) return { kind: "memory", text };
  const memory = sampleNumber(sample, "memory");
  return memory !== null && memory < history.bestMemory * MEMORY_SHARE
    ? { kind: "memory", text: `only ${memory} of ${history.bestMemory} MiB of memory are left` }
    : undefined;
}

function modeCondition(sample: GpuSample): Condition | undefined {
  if (sampleIs(sample, "migMode")) {
    return {
      kind: "mode",
      text: "MIG is enabled, and only whole GPUs are rented out: turn it off (nvidia-smi -mig 0)",
    };
  }
  const { recovery } = sample.readings;
  return recovery.kind === "value" && recovery.text !== "None"
    ? { kind: "mode", text: `the driver asks for: ${recovery.text}` }
    : undefined;
}

function streakCondition(history: GpuHistory, sample: GpuSample): Condition | undefined {
  if (history.hotLooks >= HOT_LOOKS) {
    const cause = sampleIs(sample, "powerBrake") ? "for lack of power" : "to protect itself from heat";
    return { kind: "heat", text: `the board slows itself down ${cause}${degrees(history)}` };
  }
  if (history.warmLooks >= WARM_LOOKS) {
    return { kind: "heat", text: `the driver has slowed the GPU down for heat for minutes${degrees(history)}` };
  }
  if (history.slowLinkLooks >= LINK_LOOKS) {
    const now = `generation ${sampleNumber(sample, "linkGen") ?? "?"} x${sampleNumber(sample, "linkWidth") ?? "?"}`;
    const before = `generation ${history.bestGen} x${history.bestWidth}`;
    return { kind: "link", text: `the PCI Express link fell back to ${now} from ${before}` };
  }
  return undefined;
}

function degrees({ temperatureC }: GpuHistory): string {
  return temperatureC === null ? "" : ` (${temperatureC} °C)`;
}

/** The sentence for a fault that only a new start of the driver or of the machine ends. */
export function faultText({ code }: Xid, meaning: string): string {
  return `Xid ${code}: ${meaning}; load the driver again or reboot the machine`;
}

/** The reported health of a GPU; undefined before the first look. `fault` is a fault of it in the kernel log. */
export function healthOf(uuid: string, history: GpuHistory, fault: string | undefined): GpuHealth | undefined {
  if (!history.isSeen && fault === undefined) return undefined;
  const reason = fault ?? history.condition?.text ?? "";
  return {
    uuid,
    isHealthy: reason === "",
    reason,
    utilizationPercent: history.utilizationPercent,
    temperatureC: history.temperatureC,
    ...(history.usedMemoryMb === null ? {} : { usedMemoryMb: Math.max(0, history.usedMemoryMb) }),
    ...(history.powerW === null ? {} : { powerW: Math.max(0, history.powerW) }),
  };
}
