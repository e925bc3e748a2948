const DAY_MS = 86_400_000;

/** Divides a stretch of time, in milliseconds since 1970, at each midnight UTC, since reports add up whole days. */
export function daysOf(fromMs: number, toMs: number): readonly (readonly [fromMs: number, toMs: number])[] {
  const days: [number, number][] = [];
  for (let begin = fromMs; begin < toMs;) {
    const end = Math.min(toMs, (Math.floor(begin / DAY_MS) + 1) * DAY_MS);
    days.push([begin, end]);
    begin = end;
  }
  return days;
}
