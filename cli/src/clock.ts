/** The only clock of this room. Commands read it once and pass the time on, so that what they say can be tested. */
export function readClock(): Date {
  return new Date();
}
