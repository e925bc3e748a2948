// Sizes as people read them; a GB is 10^9 bytes.

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"] as const;

/** `18.2 GB`, `512 B`: three significant digits. */
export function bytes(count: number): string {
  const exponent = Math.min(UNITS.length - 1, count < 1 ? 0 : Math.floor(Math.log10(count) / 3));
  return `${short(count / 1000 ** exponent)} ${UNITS[exponent] ?? "B"}`;
}

/** Gigabytes of the API. */
export function gigabytes(count: number): string {
  return bytes(count * 1e9);
}

/** Megabits a second of the API: `850 Mbit/s`, `2.1 Gbit/s`. */
export function megabits(count: number): string {
  return count >= 1000 ? `${short(count / 1000)} Gbit/s` : `${short(count)} Mbit/s`;
}

/** A share from 0 to 1: `99.2 %`. */
export function share(part: number): string {
  return `${short(part * 100)} %`;
}

/** `1 instance`, `3 instances`, `9,870 offers`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number.toLocaleString("en-US")} ${number === 1 ? noun : plural}`;
}

function short(number: number): string {
  if (number >= 100) return String(Math.round(number));
  return String(Number(number.toPrecision(3)));
}
