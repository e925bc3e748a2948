import { useEffect, useState } from "react";
import { every, nowSeconds } from "../clock.ts";

/** The time in seconds since the epoch; the component is drawn again every `everyMs`. */
export function useNow(everyMs = 10_000): number {
  const [seconds, setSeconds] = useState(nowSeconds);
  useEffect(() => every(everyMs, () => setSeconds(nowSeconds())), [everyMs]);
  return seconds;
}
