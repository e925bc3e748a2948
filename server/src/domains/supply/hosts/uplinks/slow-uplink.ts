/** What a machine's line is said to carry, or what was measured of it, in Mbit/s. */
export type LineSpeed = { readonly upMbps: number; readonly downMbps: number };

/** What one server measured of a machine's line lately: the best of each direction. */
export type MeasuredLine = LineSpeed & {
  readonly probeCount: number;
  readonly lastAt: Date;
};

/** How far back measurements count. */
export const MEASURED_WITHIN_MS = 7 * 86_400_000;
/** One slow measurement, or three in one bad hour, say nothing: a machine is measured once a day. */
const PROBES_MIN = 3;
/** The way between two places may be so much narrower than the lines at both ends. */
const FAR = 10;
/** Which host's speed is believed of the server's own line: one or two may stand beside the server, or belong to each other. */
export const NTH_FASTEST_HOST = 3;

export type SlowDirection = {
  readonly direction: "up" | "down";
  readonly declaredMbps: number;
  readonly measuredMbps: number;
  /** What the server carried with other hosts in this direction. */
  readonly carriedMbps: number;
};

/**
 * The directions in which a declared line is contradicted by far. A measured speed is a lower bound of the line: the server's
 * own may be the narrow one. So it is compared with what the server carried with other hosts, and with less when the machine
 * declared less.
 */
export function slowDirections(
  declared: LineSpeed,
  measured: MeasuredLine | undefined,
  carried: LineSpeed | undefined,
): readonly SlowDirection[] {
  if (measured === undefined || carried === undefined || measured.probeCount < PROBES_MIN) return [];
  const all: readonly SlowDirection[] = [
    {
      direction: "up",
      declaredMbps: declared.upMbps,
      measuredMbps: measured.upMbps,
      carriedMbps: carried.upMbps,
    },
    {
      direction: "down",
      declaredMbps: declared.downMbps,
      measuredMbps: measured.downMbps,
      carriedMbps: carried.downMbps,
    },
  ];
  return all.filter(
    ({ declaredMbps, measuredMbps, carriedMbps }) => measuredMbps * FAR < Math.min(declaredMbps, carriedMbps),
  );
}
