type Props = {
  /** Says what the line shows, with its last value: "GPU use in the last hour, now 93 %". */
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** The value at the top. */
  readonly max: number;
  readonly width?: number;
  readonly height?: number;
};

/** A line without axes, for the cell of a table. */
export function Spark({ label, values, max, width = 80, height = 20 }: Props) {
  const step = width / Math.max(1, values.length - 1);
  const points = values.flatMap((value, index) => {
    if (value === null) return [];
    const y = height - 1 - (Math.min(max, Math.max(0, value)) / max) * (height - 2);
    return [`${(index * step).toFixed(1)},${y.toFixed(1)}`];
  });
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <polyline
        points={points.join(" ")}
        fill="none"
        stroke="var(--accent)"
        strokeWidth={1.25}
        strokeLinejoin="round"
      />
    </svg>
  );
}
