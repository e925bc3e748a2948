// Figures as people read them, with the exact value where the short one hides something.
import { Tooltip } from "@mantine/core";
import { hourly, money } from "../text/money.ts";
import { bytes } from "../text/size.ts";
import { ago, duration, localTime, utcTime } from "../text/time.ts";
import { useNow } from "./use-now.ts";

/** An amount of dollars; the dash stands for one that the server has not said. */
export function Money({ dollars }: { readonly dollars: number | undefined | null }) {
  return <span>{dollars === undefined || dollars === null ? "–" : money(dollars)}</span>;
}

/** Dollars an hour. */
export function Price({ dollars }: { readonly dollars: number | undefined | null }) {
  return <span>{dollars === undefined || dollars === null ? "–" : hourly(dollars)}</span>;
}

export function Bytes({ count }: { readonly count: number }) {
  return <span>{bytes(count)}</span>;
}

export function Duration({ seconds }: { readonly seconds: number }) {
  return <span>{duration(seconds)}</span>;
}

/** The time since `at`, in seconds since the epoch; hovering or focusing it shows the exact time. */
export function Ago({ at }: { readonly at: number }) {
  return <Timed at={at} text={ago(at, useNow())} hint={`${localTime(at)} (${utcTime(at)})`} />;
}

/** A point of time in the reader's zone; hovering or focusing it shows it in UTC. */
export function Moment({ at }: { readonly at: number }) {
  return <Timed at={at} text={localTime(at)} hint={utcTime(at)} />;
}

function Timed({ at, text, hint }: { readonly at: number; readonly text: string; readonly hint: string }) {
  return (
    <Tooltip label={hint}>
      <time dateTime={new Date(at * 1000).toISOString()} tabIndex={0}>
        {text}
      </time>
    </Tooltip>
  );
}
