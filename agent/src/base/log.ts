import { pino, type Logger } from "pino";

/** The log of the agent's parts. A line never holds a value of an environment, a password or a token. */
export type Log = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  debug(fields: object, message: string): void;
};

/** JSON lines on stderr, at the level of BERTH_LOG_LEVEL. */
export function createLog(level: string): Logger {
  const known = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];
  return pino(
    { level: known.includes(level) ? level : "info", base: { part: "agent" } },
    pino.destination({ dest: 2, sync: true }),
  );
}

export const silentLog: Log = { info: () => undefined, warn: () => undefined, debug: () => undefined };
