import { instanceMeasurements, type InstanceMeasurementsAnswer } from "../../../../sdk/src/operations.ts";
import { readClock } from "../../clock.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { printAnswer } from "../../output.ts";

type Answer = InstanceMeasurementsAnswer;
type Values = Answer["series"]["gpu_util"];

const WIDTH = 60;
const BARS = "▁▂▃▄▅▆▇█";
const SECONDS_PER_HOUR = 3_600;
const GB = 1_000_000_000;
const MB = 1_000_000;

type Line = {
  readonly name: string;
  readonly values: (series: Answer["series"]) => Values;
  /** The height of a full bar; the highest value when undefined. */
  readonly full?: number;
  readonly show: (value: number) => string;
};

const LINES: readonly Line[] = [
  { name: "GPU", values: (all) => all.gpu_util, full: 100, show: (value) => `${value.toFixed(0)} %` },
  { name: "GPU memory", values: (all) => all.gpu_memory_bytes, show: (value) => `${(value / GB).toFixed(1)} GB` },
  {
    name: "GPU temperature",
    values: (all) => all.gpu_temperature,
    full: 100,
    show: (value) => `${value.toFixed(0)} °C`,
  },
  { name: "GPU power", values: (all) => all.gpu_power_watts, show: (value) => `${value.toFixed(0)} W` },
  { name: "CPU", values: (all) => all.cpu_util, full: 1, show: (value) => `${(value * 100).toFixed(0)} %` },
  { name: "memory", values: (all) => all.memory_bytes, show: (value) => `${(value / GB).toFixed(1)} GB` },
  { name: "disk", values: (all) => all.disk_bytes, show: (value) => `${(value / GB).toFixed(1)} GB` },
  {
    name: "received",
    values: (all) => all.net_in_bytes_per_second,
    show: (value) => `${(value / MB).toFixed(2)} MB/s`,
  },
  { name: "sent", values: (all) => all.net_out_bytes_per_second, show: (value) => `${(value / MB).toFixed(2)} MB/s` },
];

/** Prints what an instance used as one small graph for each quantity, the present at the right. */
export async function showMeasurements(
  id: number,
  options: ConnectionOptions & { readonly hours: number; readonly json?: boolean },
): Promise<void> {
  const from = Math.floor(readClock().getTime() / 1000) - options.hours * SECONDS_PER_HOUR;
  const answer = await instanceMeasurements(connect(options), { id, query: { from: String(from) } });
  printAnswer(answer, options, render);
}

function render({ series, from, to }: Answer): string {
  const lines = LINES.flatMap(({ name, values, full, show }) => {
    const all = values(series);
    const known = all.flatMap((value) => value ?? []);
    const [last, highest] = [known.at(-1), Math.max(...known)];
    if (last === undefined) return [];
    return [`${name.padEnd(16)}${barsOf(all, full ?? highest)}  ${show(last)}, highest ${show(highest)}`];
  });
  if (lines.length === 0) return "Nothing was measured in this time.";
  const time = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
  return [`${time(from)} to ${time(to)} UTC`, ...lines].join("\n");
}

/** One character for each step of the width; a blank where nothing was measured. */
function barsOf(values: Values, full: number): string {
  const width = Math.min(WIDTH, values.length);
  return Array.from({ length: width }, (_, place) => {
    const part = values.slice(
      Math.floor((place * values.length) / width),
      Math.floor(((place + 1) * values.length) / width),
    );
    const known = part.flatMap((value) => value ?? []);
    if (known.length === 0) return " ";
    const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
    const level = full <= 0 ? 0 : Math.floor((mean / full) * BARS.length);
    return BARS[Math.min(BARS.length - 1, Math.max(0, level))];
  }).join("");
}
