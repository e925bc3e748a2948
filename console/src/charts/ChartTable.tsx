import { utcTime } from "../text/time.ts";
import type { Line } from "./chart.ts";
import classes from "./charts.module.css";

type Props = {
  readonly title: string;
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
  /** Writes the time of a row; to the second unless another says so. */
  readonly timeText?: (seconds: number) => string;
};

/** A table of more rows than this takes only some of them, evenly. */
const ROWS_MAX = 100;

/** The values of a chart as a table, for readers of the screen and for copying. */
export function ChartTable({ title, times, lines, format, timeText = utcTime }: Props) {
  const step = Math.max(1, Math.ceil(times.length / ROWS_MAX));
  const shown = times.map((time, index) => ({ time, index })).filter(({ index }) => index % step === 0);
  return (
    <details className={classes["details"]}>
      <summary>
        Table<span className="visually-hidden"> of {title}</span>
      </summary>
      <div className={classes["tablePlace"]} tabIndex={0} role="group" aria-label={`Table of ${title}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {lines.map(({ label }) => (
                <th key={label} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map(({ time, index }) => (
              <tr key={time}>
                <th scope="row">{timeText(time)}</th>
                {lines.map(({ label, values }) => {
                  const value = values[index];
                  return <td key={label}>{value === null || value === undefined ? "–" : format(value)}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
