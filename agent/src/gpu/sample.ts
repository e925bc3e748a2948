import { isYes, numberOf, readCell, readNumberCell, readWordCell, type Reading } from "./reading.ts";

const ACTIVE = ["Active", "Not Active"] as const;
const YES = ["Yes", "No"] as const;
const ENABLED = ["Enabled", "Disabled"] as const;

type Column = {
  /** Names of the column, the present one first: drivers of other ages know it by another, or not at all. */
  readonly names: readonly string[];
  readonly read: (cell: string) => Reading;
};

const number = (...names: string[]): Column => ({ names, read: readNumberCell });
const word = (words: readonly string[], ...names: string[]): Column => ({
  names,
  read: (cell) => readWordCell(cell, words),
});
const text = (...names: string[]): Column => ({ names, read: readCell });
const throttle = (reason: string): Column =>
  word(ACTIVE, `clocks_event_reasons.${reason}`, `clocks_throttle_reasons.${reason}`);

/** Everything that is asked of the tool at each look, in this order. */
const COLUMNS = {
  uuid: text("uuid"),
  busId: text("pci.bus_id"),
  driverVersion: text("driver_version"),
  pstate: text("pstate"),
  utilization: number("utilization.gpu"),
  temperature: number("temperature.gpu"),
  memory: number("memory.total"),
  migMode: word(ENABLED, "mig.mode.current"),
  eccMode: word(ENABLED, "ecc.mode.current"),
  eccSinceLoad: number("ecc.errors.uncorrected.volatile.total"),
  eccEver: number("ecc.errors.uncorrected.aggregate.total"),
  remapPending: word(YES, "remapped_rows.pending"),
  remapFailure: word(YES, "remapped_rows.failure"),
  retirePending: word(YES, "retired_pages.pending"),
  hwSlowdown: throttle("hw_slowdown"),
  hwThermal: throttle("hw_thermal_slowdown"),
  powerBrake: throttle("hw_power_brake_slowdown"),
  swThermal: throttle("sw_thermal_slowdown"),
  linkGen: number("pcie.link.gen.current"),
  linkWidth: number("pcie.link.width.current"),
  recovery: text("gpu_recovery_action"),
  usedMemory: number("memory.used"),
  power: number("power.draw"),
} as const satisfies Record<string, Column>;

export type ColumnName = keyof typeof COLUMNS;
const ALL = Object.keys(COLUMNS) as readonly ColumnName[];

/** One GPU at one look. */
export type GpuSample = {
  readonly uuid: string;
  /** `0000:01:00`, as the kernel log names it too; empty when it cannot be read. */
  readonly bus: string;
  readonly driverVersion: string;
  readonly readings: Readonly<Record<ColumnName, Reading>>;
};

/** The result of one look at all GPUs of the machine. */
export type Look =
  | {
      readonly kind: "sample";
      readonly gpus: readonly GpuSample[];
      /** Remarks of the tool on single GPUs beside the table, by bus: each of them is a complaint. */
      readonly remarks: ReadonlyMap<string, string>;
    }
  /** The look failed for all GPUs; `reason` is a sentence without its full stop. */
  | { readonly kind: "failure"; readonly reason: string };

export type Query = { readonly columns: readonly ColumnName[]; readonly args: readonly string[] };

/** The query without the names that this driver does not know. */
export function queryOf(unknownNames: ReadonlySet<string>): Query {
  const columns: ColumnName[] = [];
  const names: string[] = [];
  for (const column of ALL) {
    const name = COLUMNS[column].names.find((candidate) => !unknownNames.has(candidate));
    if (name === undefined) continue;
    columns.push(column);
    names.push(name);
  }
  return { columns, args: [`--query-gpu=${names.join(",")}`, "--format=csv,noheader,nounits"] };
}

/** The name that the tool refuses, when that is why it gave no answer. */
export function refusedName(output: string): string | undefined {
  return /^Field "([a-z0-9_.]+)" is not a valid field to query/im.exec(output)?.[1];
}

/** The rows of the tool's table; undefined when a part of the answer is missing. */
export function parseRows(output: string, columns: readonly ColumnName[]): readonly GpuSample[] | undefined {
  const gpus: GpuSample[] = [];
  for (const line of output.split("\n")) {
    const trimmed = line.trim();
    if (trimmed === "" || REMARKS.some((remark) => remark.test(trimmed))) continue;
    const cells = trimmed.split(",").map((cell) => cell.trim());
    const uuid = cells[columns.indexOf("uuid")];
    if (cells.length !== columns.length || !uuid?.startsWith("GPU-")) return undefined;
    const readings: Record<ColumnName, Reading> = { ...NOTHING };
    for (const [index, column] of columns.entries()) readings[column] = COLUMNS[column].read(cells[index] ?? "");
    gpus.push({
      uuid,
      bus: busOf(textOf(readings.busId)),
      driverVersion: textOf(readings.driverVersion),
      readings,
    });
  }
  return gpus;
}

const NOTHING = Object.fromEntries(ALL.map((column) => [column, { kind: "absent" }])) as Record<ColumnName, Reading>;
const CANNOT_OPEN = /^Unable to determine the device handle for GPU ?(?:\d+: )?([0-9a-f:.]+?):? ([^:]*)$/i;
const BAD_ROM = /^WARNING: infoROM is corrupted at gpu ([0-9a-f:.]+)/i;
const REMARKS = [CANNOT_OPEN, BAD_ROM, /^No devices were found/i, /^WARNING:/i];

/** Remarks of the tool on single GPUs beside its table, by bus, as sentences without their full stop. */
export function parseRemarks(output: string): ReadonlyMap<string, string> {
  const remarks = new Map<string, string>();
  for (const line of output.split("\n").map((each) => each.trim())) {
    const closed = CANNOT_OPEN.exec(line);
    if (closed)
      remarks.set(busOf(closed[1] ?? ""), `the driver cannot open the GPU: ${(closed[2] ?? "").split(".")[0]}`);
    const corrupted = BAD_ROM.exec(line);
    if (corrupted) remarks.set(busOf(corrupted[1] ?? ""), "the board's own memory for settings is corrupted (infoROM)");
  }
  return remarks;
}

/** `00000000:01:00.0` and `0000:01:00` are the same place; empty when the text names none. */
export function busOf(printed: string): string {
  const match = /^([0-9a-f]{1,8}):([0-9a-f]{2}):([0-9a-f]{2})(?:\.[0-9a-f])?$/i.exec(printed.trim());
  if (!match) return "";
  const domain = Number.parseInt(match[1] ?? "0", 16)
    .toString(16)
    .padStart(4, "0");
  return `${domain}:${match[2]}:${match[3]}`.toLowerCase();
}

/** The name under which a column is asked for, for sentences that a host reads. */
export function printedName(column: ColumnName): string {
  return COLUMNS[column].names[0] ?? column;
}

export function sampleNumber(sample: GpuSample, column: ColumnName): number | null {
  return numberOf(sample.readings[column]);
}

export function sampleIs(sample: GpuSample, column: ColumnName): boolean {
  return isYes(sample.readings[column]);
}

function textOf(reading: Reading): string {
  return reading.kind === "value" ? reading.text : "";
}
