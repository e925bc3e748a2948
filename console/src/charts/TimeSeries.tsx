import { useCallback, useMemo, useState } from "react";
import type uPlot from "uplot";
import { colour, type Line, toneOf, usePlot } from "./chart.ts";
import { ChartTable } from "./ChartTable.tsx";
import classes from "./charts.module.css";

type Mark = { readonly at: number; readonly label: string };

type Props = {
  /** Says what the chart shows; it is the name of its table, too. */
  readonly title: string;
  /** Seconds since the epoch, ascending. */
  readonly times: readonly number[];
  readonly lines: readonly Line[];
  /** Writes a value with its unit, on the axis, in the legend and in the table. */
  readonly format: (value: number) => string;
  readonly height?: number;
  /** The highest value of the axis, for shares; the data decide otherwise. */
  readonly max?: number;
  /** Decisions at the axis; a click shows the sentence of one. */
  readonly marks?: readonly Mark[];
};

/** Lines over time, with the values under the pointer and a table behind it. */
export function TimeSeries({ title, times, lines, format, height = 160, max, marks = [] }: Props) {
  const [index, setIndex] = useState<number | null>(null);
  const axisPx = axisWidth(lines, format);
  const names = lines.map(({ label, tone, isArea, isDashed }) => ({ label, tone, isArea, isDashed }));
  const shape = JSON.stringify(names);
  const data = useMemo<uPlot.AlignedData>(
    () => [[...times], ...lines.map(({ values }) => [...values])],
    [times, lines],
  );
  const make = useCallback(
    (place: HTMLElement, width: number): uPlot.Options => ({
      width,
      height,
      padding: [8, 20, 0, 0],
      cursor: { y: false, points: { size: 6 } },
      legend: { show: false },
      scales: { x: { time: true }, y: { range: (_plot, low, high) => rangeOf(low, high, max) } },
      series: [{}, ...lines.map((line, at) => seriesOf(place, line, at))],
      axes: axesOf(place, format, axisPx),
      hooks: { setCursor: [(plot) => setIndex(plot.cursor.idx ?? null)] },
    }),
    // The shape stands for the lines: their values come through setData.
    // oxlint-disable-next-line react/exhaustive-deps
    [shape, height, max, format, axisPx],
  );
  const place = usePlot(make, data);
  return (
    <figure className={classes["figure"]}>
      <figcaption className={classes["caption"]}>
        <span className={classes["title"]}>{title}</span>
        {lines.map((line, at) => (
          <span key={line.label} className={classes["entry"]}>
            <span className={classes["swatch"]} data-tone={toneOf(line, at)} />
            {line.label} <b>{valueText(index === null ? lastKnown(line.values) : line.values[index], format)}</b>
          </span>
        ))}
      </figcaption>
      <div ref={place} className={classes["plot"]} style={{ height }} aria-hidden="true" />
      {marks.length > 0 && <Marks marks={marks} times={times} axisPx={axisPx} />}
      <ChartTable title={title} times={times} lines={lines} format={format} />
    </figure>
  );
}

/** Marks that are closer than this part of the axis are one mark, since they could not be hit one by one. */
const MARK_WIDTH = 1 / 50;

type MarksProps = { readonly marks: readonly Mark[]; readonly times: readonly number[]; readonly axisPx: number };

function Marks({ marks, times, axisPx }: MarksProps) {
  const [shown, setShown] = useState<number>();
  const [start, end] = [times[0] ?? 0, times.at(-1) ?? 1];
  const placeOf = ({ at }: Mark) => Math.min(1, Math.max(0, (at - start) / Math.max(1, end - start)));
  const groups = Map.groupBy(marks, (mark) => Math.min(1 / MARK_WIDTH - 1, Math.floor(placeOf(mark) / MARK_WIDTH)));
  return (
    <div className={classes["marks"]} style={{ marginLeft: axisPx }}>
      {[...groups].map(([place, group]) => (
        <button
          key={place}
          type="button"
          className={classes["mark"]}
          style={{ left: `${100 * MARK_WIDTH * (place + 0.5)}%` }}
          aria-label={group.length === 1 ? group[0]?.label : `${group.length} marks, from: ${group[0]?.label}`}
          aria-pressed={shown === place}
          onClick={() => setShown(shown === place ? undefined : place)}
        />
      ))}
      {shown !== undefined &&
        groups.get(shown)?.map(({ at, label }) => (
          <p key={`${at} ${label}`} className={classes["sentence"]}>
            <time className="dim">{timeText(at)}</time> {label}
          </p>
        ))}
    </div>
  );
}

/** The newest measurement: those of the last moments are still on their way. */
function lastKnown(values: Line["values"]): number | undefined {
  return values.findLast((value) => value !== null) ?? undefined;
}

function valueText(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? "–" : format(value);
}

/** From zero, with some room above; a flat line at zero still has an axis. */
function rangeOf(low: number | null, high: number | null, max: number | undefined): [number, number] {
  if (max !== undefined) return [0, max];
  return [Math.min(0, low ?? 0), (high ?? 0) === 0 ? 1 : (high ?? 0) * 1.1];
}

function seriesOf(place: HTMLElement, line: Line, index: number): uPlot.Series {
  const stroke = colour(place, toneOf(line, index));
  return {
    label: line.label,
    stroke,
    width: 1.5,
    points: { show: false },
    ...(line.isArea === true ? { fill: stroke.replace(/^rgb\((.*)\)$/, "rgba($1, 0.12)") } : {}),
    ...(line.isDashed === true ? { dash: [4, 4] } : {}),
  };
}

function axesOf(place: HTMLElement, format: (value: number) => string, axisPx: number): uPlot.Axis[] {
  const common = {
    stroke: colour(place, "dim"),
    grid: { stroke: colour(place, "line"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui, sans-serif",
  };
  return [
    { ...common, size: 28, grid: { show: false }, values: timeTexts },
    { ...common, size: axisPx, values: (_plot, values) => values.map(format) },
  ];
}

const AXIS_PX = 64;
const LETTER_PX = 6.2;

/** The width of the axis of the values: enough for its longest figure. */
function axisWidth(lines: readonly Line[], format: (value: number) => string): number {
  const highest = Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)));
  return Math.max(AXIS_PX, Math.ceil(format(Math.round(highest)).length * LETTER_PX) + 12);
}

function timeText(at: number): string {
  return new Date(at * 1_000).toLocaleTimeString("en-GB");
}

const DAY_S = 86_400;

/** The times of an axis in the reader's zone: hours and minutes, or days when the axis spans several. */
function timeTexts(_plot: uPlot, times: number[]): string[] {
  const isLong = (times.at(-1) ?? 0) - (times[0] ?? 0) > 2 * DAY_S;
  const options: Intl.DateTimeFormatOptions = isLong
    ? { month: "short", day: "numeric" }
    : { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  return times.map((at) => new Date(at * 1_000).toLocaleString("en-GB", options));
}
