import type { ReactElement } from "react";

/** Outlines on a grid of 16, drawn with the colour of the text. */
const PATHS = {
  alert:
    "M8 5v4M8 11.500v.1M7 2.200 1.400 12.500a1 1 0 0 0 .9 1.500h11.400a1 1 0 0 0 .9-1.500L9 2.200a1.100 1.100 0 0 0-2 0Z",
  arrowDown: "M8 3v10M4 9l4 4 4-4",
  arrowUp: "M8 13V3M4 7l4-4 4 4",
  bar: "M2 8h12M2 5.500v5M14 5.500v5M5 8v-1.500h5V9.500H5Z",
  bell: "M3.500 11.500h9c-1-1-1.200-2-1.200-4a3.300 3.300 0 0 0-6.600 0c0 2-.2 3-1.200 4ZM6.700 13.500a1.400 1.400 0 0 0 2.600 0",
  check: "M3 8.500 6.500 12 13 4.500",
  chevron: "m4 6 4 4 4-4",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 5v3.200l2 1.300",
  code: "m5.500 5-3 3 3 3M10.500 5l3 3-3 3",
  copy: "M5.500 5.500h7v8h-7zM10.500 5.500v-3h-7v8h2",
  cross: "m4 4 8 8M12 4l-8 8",
  dot: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z",
  down: "M8 2v8M4.500 7 8 10.500 11.500 7M3 13.500h10",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 7.500V11M8 5v.1",
  menu: "M2 4h12M2 8h12M2 12h12",
  moon: "M13 9.500A5.500 5.500 0 0 1 6.500 3a5.500 5.500 0 1 0 6.500 6.500Z",
  more: "M3 8h.1M8 8h.1M13 8h.1",
  off: "M2.500 2.500l11 11M8 14A6 6 0 0 0 13 4.700M11 2.800A6 6 0 0 0 3.600 12",
  person:
    "M8 8a2.700 2.700 0 1 0 0-5.400A2.700 2.700 0 0 0 8 8ZM3 13.500c.5-2.500 2.500-3.800 5-3.800s4.500 1.300 5 3.800",
  play: "M5 3v10l8-5Z",
  power: "M9 1.500 4 9h4l-1 5.500L12 7H8Z",
  queue: "M2 4h9M2 8h9M2 12h6M13.500 8v5M11.500 11l2 2 1-1",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.700 10.700 14 14",
  stop: "M4 4h8v8H4z",
  sun: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8 1.500v1M8 13.500v1M1.500 8h1M13.500 8h1M3.400 3.400l.7.7M11.900 11.900l.7.7M3.400 12.600l.7-.7M11.900 4.100l.7-.7",
  team: "M6 7.500a2.200 2.200 0 1 0 0-4.400 2.200 2.200 0 0 0 0 4.400ZM1.700 13c.3-2.200 2-3.500 4.300-3.500s4 1.300 4.300 3.500M10.500 3.300a2.200 2.200 0 0 1 0 4.200M12 9.800c1.300.5 2.100 1.600 2.300 3.200",
} as const;

export type IconName = keyof typeof PATHS;

/** A picture beside a word; it says nothing by itself, so readers of the screen skip it. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }): ReactElement {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
