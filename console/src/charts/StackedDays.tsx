import { useState } from "react";
import { utcDay } from "../text/time.ts";
import { HostileText } from "../ui/HostileText.tsx";
import type { ChartTone } from "./chart.ts";
import { ChartTable } from "./ChartTable.tsx";
import classes from "./charts.module.css";

type Part = {
  /** Names the part once among all: two parts never share it. */
  readonly label: string;
  /** One value for each day, none below zero. */
  readonly values: readonly number[];
};
type Props = {
  readonly title: string;
  /** The beginnings of days (UTC), in seconds since the epoch. */
  readonly days: readonly number[];
  readonly parts: readonly Part[];
  readonly format: (value: number) => string;
};

const TONES: readonly ChartTone[] = ["accent", "blue", "amber", "violet", "red", "dim"];
/** The second round of tones is paler, so that each of twelve parts has a look of its own. */
const PALE = 0.5;
/** Share of a day's place that its bar takes. */
const BAR = 0.72;

/** A bar for each day, of one piece for each part; a table behind it has every value. */
export function StackedDays({ title, days, parts, format }: Props) {
  const [shown, setShown] = useState<number>();
  const highest = Math.max(0, ...days.map((_, day) => heightOf(parts, day)));
  return (
    <figure className={classes["figure"]}>
      <figcaption className={classes["caption"]}>
        <span className={classes["title"]}>{title}</span>
        {shown !== undefined && <span>{utcDay(days[shown] ?? 0)}</span>}
        {parts.map(({ label, values }, index) => (
          <span key={label} className={classes["entry"]}>
            <span className={classes["swatch"]} data-tone={toneAt(index)} style={{ opacity: opacityAt(index) }} />
            <HostileText text={label} />
            {shown !== undefined && <b>{format(values[shown] ?? 0)}</b>}
          </span>
        ))}
      </figcaption>
      <div className={classes["days"]} aria-hidden="true">
        <span className={classes["top"]}>{format(highest)}</span>
        <svg viewBox={`0 0 ${days.length} 100`} preserveAspectRatio="none" onPointerLeave={() => setShown(undefined)}>
          {days.map((day, index) => (
            <DayBar
              key={day}
              {...{ index, parts, highest }}
              isFaint={shown !== undefined && shown !== index}
              onShow={() => setShown(index)}
            />
          ))}
        </svg>
        <div className={classes["ends"]}>
          <span>{utcDay(days[0] ?? 0)}</span>
          <span>{utcDay(days.at(-1) ?? 0)}</span>
        </div>
      </div>
      <ChartTable title={title} times={days} lines={parts} format={format} timeText={utcDay} />
    </figure>
  );
}

type BarProps = Pick<Props, "parts"> & {
  readonly index: number;
  readonly highest: number;
  readonly isFaint: boolean;
  readonly onShow: () => void;
};

function DayBar({ index, parts, highest, isFaint, onShow }: BarProps) {
  const scale = highest > 0 ? 100 / highest : 0;
  const tops = parts.map((_, part) => heightOf(parts.slice(0, part + 1), index) * scale);
  return (
    <g opacity={isFaint ? PALE : 1} onPointerEnter={onShow}>
      <rect x={index} y={0} width={1} height={100} fill="transparent" />
      {parts.map(({ label, values }, part) => (
        <rect
          key={label}
          x={index + (1 - BAR) / 2}
          y={100 - (tops[part] ?? 0)}
          width={BAR}
          height={(values[index] ?? 0) * scale}
          fill={`var(--${toneAt(part) === "dim" ? "line-strong" : toneAt(part)})`}
          opacity={opacityAt(part)}
        />
      ))}
    </g>
  );
}

/** The height of a bar, for drawing alone: sums that people read come from the server. */
function heightOf(parts: readonly Part[], day: number): number {
  return parts.reduce((height, { values }) => height + (values[day] ?? 0), 0);
}

function toneAt(index: number): ChartTone {
  return TONES[index % TONES.length] ?? "accent";
}

function opacityAt(index: number): number {
  return index < TONES.length ? 1 : PALE;
}
