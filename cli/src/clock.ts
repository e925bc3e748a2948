/** The only clock of the CLI. Commands read it once and pass the time on, so that tests can fix their output. */
export function readClock(): Date {
  return new Date();
}
