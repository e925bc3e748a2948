// Parts that all charts share: colours of the scheme, and a plot that follows its place.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useEffect, useRef, type RefObject } from "react";

export type Line = {
  readonly label: string;
  /** One value for each time; null where there is none. */
  readonly values: readonly (number | null)[];
  readonly tone?: ChartTone;
  /** Fills the area below the line. */
  readonly isArea?: boolean;
  readonly isDashed?: boolean;
};
export type ChartTone = "accent" | "blue" | "amber" | "violet" | "red" | "dim";

/** Tones of lines that name none, in their order. */
const TONES: readonly ChartTone[] = ["accent", "blue", "amber", "violet", "red"];

/** A colour of theme.css as the canvas takes it. */
export function colour(place: Element, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(--${name})`;
  place.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

export function toneOf(line: Line, index: number): ChartTone {
  return line.tone ?? TONES[index % TONES.length] ?? "accent";
}

type MakeOptions = (place: HTMLElement, width: number) => uPlot.Options;

/** A plot in the returned place; it is made again when `make`, the colours of the screen, or the width change. */
export function usePlot(make: MakeOptions, data: uPlot.AlignedData): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const latest = useRef(data);
  useEffect(() => {
    latest.current = data;
    plot.current?.setData(data);
  }, [data]);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const draw = () => {
      plot.current?.destroy();
      if (element.clientWidth === 0) return;
      plot.current = new uPlot(make(element, element.clientWidth), latest.current, element);
    };
    const sizes = new ResizeObserver(draw);
    sizes.observe(element);
    const scheme = new MutationObserver(draw);
    scheme.observe(document.documentElement, { attributeFilter: ["data-mantine-color-scheme"] });
    return () => {
      sizes.disconnect();
      scheme.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [make]);
  return place;
}
