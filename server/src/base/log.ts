import { pino, type DestinationStream, type Logger } from "pino";
import { withLoggedErrors } from "./log-error.ts";
import { requestFields } from "./request-context.ts";

export type Log = Logger;

/** Keys whose values never reach a log line, in the first three levels of an object. */
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

/**
 * Structured JSON lines. Request bodies are never logged, so these paths are the second barrier, not the first. Errors
 * are cut to the fields of `log-error.ts`.
 */
export function createLog(level: string, destination?: DestinationStream): Log {
  const paths = SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]);
  const options = {
    level,
    base: null,
    redact: { paths, censor: "[redacted]" },
    // A line that names the request, user or instance itself is the one that counts.
    mixin: requestFields,
    formatters: { log: withLoggedErrors },
    // pino's own serializer would follow the formatter and add to its result.
    serializers: { err: (shown: unknown) => shown },
  };
  return destination === undefined ? pino(options, pino.destination(2)) : pino(options, destination);
}
