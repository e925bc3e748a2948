import { pino, type DestinationStream, type Logger } from "pino";

export type Log = Logger;

/** Keys whose values never reach a log line, wherever they stand in the first three levels of an object. */
const SECRET_KEYS = [
  "authorization",
  "api_key",
  "password",
  "docker_login_pass",
  "image_login",
  "env",
  "token",
  "secret",
];

/** Structured JSON lines. Request bodies are never logged, so these paths are the second barrier, not the first. */
export function createLog(level: string, destination?: DestinationStream): Log {
  const paths = SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]);
  const options = { level, base: null, redact: { paths, censor: "[redacted]" } };
  return destination === undefined ? pino(options, pino.destination(2)) : pino(options, destination);
}
