import classes from "./charts.module.css";

type Part = {
  readonly label: string;
  readonly value: number;
  readonly tone: "accent" | "blue" | "amber" | "violet" | "red" | "dim";
};
type Props = {
  readonly label: string;
  readonly parts: readonly Part[];
  /** The length of the whole band; the rest stays empty. */
  readonly total: number;
  readonly format: (value: number) => string;
};

/** A bar of parts, such as spent, held and left of a limit. */
export function Band({ label, parts, total, format }: Props) {
  const sentence = parts.map((part) => `${part.label} ${format(part.value)}`).join(", ");
  return (
    <div className={classes["bandPlace"]}>
      <div className={classes["band"]} role="img" aria-label={`${label}: ${sentence} of ${format(total)}`}>
        {parts.map((part) => (
          <span
            key={part.label}
            data-tone={part.tone}
            style={{ width: `${total > 0 ? Math.min(100, (100 * part.value) / total) : 0}%` }}
          />
        ))}
      </div>
      <div className={classes["bandWords"]} aria-hidden="true">
        {parts.map((part) => (
          <span key={part.label} className={classes["entry"]}>
            <span className={classes["swatch"]} data-tone={part.tone} />
            {part.label} <b>{format(part.value)}</b>
          </span>
        ))}
      </div>
    </div>
  );
}
