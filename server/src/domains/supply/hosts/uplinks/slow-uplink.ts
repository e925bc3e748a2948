/** Declared or measured speed of a machine's uplink, in Mbit/s. */
export type UplinkSpeed = { readonly upMbps: number; readonly downMbps: number };

/** Recent measurements of a machine's uplink by one server: the best of each direction. */
export type MeasuredUplink = UplinkSpeed & {
  readonly probeCount: number;
  readonly lastAt: Date;
};

/** Age up to which measurements count. */
export const MEASURED_WITHIN_MS = 7 * 86_400_000;
/** One slow measurement, or three in one bad hour, prove nothing: a machine is measured once a day. */
const PROBES_MIN = 3;
/** The route between two places may be narrower than the uplinks at both ends by this factor. */
const FAR = 10;
/**
 * The rank of the host whose speed is taken for the server's own uplink: one or two hosts may stand beside the server,
 * or belong together.
 */
export const NTH_FASTEST_HOST = 3;

export type SlowDirection = {
  readonly direction: "up" | "down";
  readonly declaredMbps: number;
  readonly measuredMbps: number;
  /** Speed that the server reached with other hosts in this direction. */
  readonly carriedMbps: number;
};

/**
 * The directions in which measurements contradict the declared speed by far. A measured speed is a lower bound: the
 * server's own uplink may be the narrow one. So it is compared with the speed that the server reached with other hosts,
 * or with the declared speed when that is lower.
 */
export function slowDirections(
  declared: UplinkSpeed,
  measured: MeasuredUplink | undefined,
  carried: UplinkSpeed | undefined,
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
