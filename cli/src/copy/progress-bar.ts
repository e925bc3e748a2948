/** How far a copy has come, as rsync says it. */
export type Progress = {
  readonly bytes: number;
  readonly percent: number;
  /** The text of rsync, such as `110.77MB/s`. */
  readonly speed: string;
  /** Hours, minutes and seconds, such as `0:01:07`; undefined at the end of a file, where rsync says the time so far. */
  readonly timeLeft: string | undefined;
};

/** The stream that a bar is drawn on. */
export type Screen = {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
};

export type ProgressBar = {
  show(progress: Progress): void;
  /** A line for the time before the first progress. */
  say(text: string): void;
  /** Removes the bar, so that the next line stands alone. */
  clear(): void;
};

const BAR_MIN = 10;
const BAR_MAX = 40;
const COLUMNS_DEFAULT = 80;
/** Widths of texts of different lengths, so that the bar beside them keeps its own. */
const SPEED_WIDTH = "999.99MB/s".length;
const LEFT_WIDTH = "01:07 left".length;
const ERASE_LINE = "\r\u001B[K";
const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

/** A bar on one line that is drawn again in place; nothing at all where the stream is no terminal. */
export function createProgressBar(screen: Screen): ProgressBar {
  if (screen.isTTY !== true) return { show: () => undefined, say: () => undefined, clear: () => undefined };
  let isDrawn = false;
  const draw = (line: string) => {
    screen.write(`${ERASE_LINE}${line}`);
    isDrawn = true;
  };
  return {
    show: (progress) => draw(renderProgress(progress, screen.columns ?? COLUMNS_DEFAULT)),
    say: draw,
    clear: () => {
      if (isDrawn) screen.write(ERASE_LINE);
      isDrawn = false;
    },
  };
}

/** One line of less than so many columns. A line of the full width would wrap. */
export function renderProgress({ bytes, percent, speed, timeLeft }: Progress, columns: number): string {
  const before = `${String(percent).padStart(3)}% `;
  const left = timeLeft === undefined ? "" : `${timeLeft.replace(/^0:/, "")} left`;
  const after = ` ${bytesText(bytes).padStart(8)}  ${speed.padStart(SPEED_WIDTH)}  ${left.padEnd(LEFT_WIDTH)}`;
  const width = Math.min(BAR_MAX, columns - 1 - before.length - after.length);
  if (width < BAR_MIN) return `${before}${after}`.slice(0, Math.max(0, columns - 1));
  const full = Math.round((Math.min(100, percent) / 100) * width);
  return `${before}${"█".repeat(full)}${"░".repeat(width - full)}${after}`;
}

/** Bytes with three digits and a decimal unit: `1.23 GB`. */
export function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}
