import type { Missed } from "./timetable.ts";

export type Outcome = "running" | "done" | "failed" | "unknown" | "missed";

/** The end of a run, as it is kept and told. */
export type RunResult = {
  readonly outcome: Exclude<Outcome, "running">;
  readonly httpStatus?: number;
  /** The stable code of the refusal. */
  readonly error?: string;
  readonly message?: string;
};

/** An answer of the server to the request of a job. */
export type Answer = { readonly status: number; readonly body: unknown };

const CODE_LENGTH_MAX = 64;
const MESSAGE_LENGTH_MAX = 500;

/**
 * The result of a request that was answered. Of a success only the status is kept: an answer may hold a key that is shown
 * once. Some published operations answer failures with 200 and `success: false`.
 */
export function resultOf({ status, body }: Answer): RunResult {
  const { success, error, msg, message } = asRecord(body);
  if (status >= 200 && status < 300 && success !== false) return { outcome: "done", httpStatus: status };
  // Chat completions put both into an object.
  const inner = asRecord(error);
  return {
    outcome: "failed",
    httpStatus: status,
    error: textOf(inner["code"] ?? inner["type"] ?? error, CODE_LENGTH_MAX) ?? "failed",
    message: textOf(inner["message"] ?? msg ?? message, MESSAGE_LENGTH_MAX) ?? "The answer does not say why.",
  };
}

/** The result of a run whose key is gone, or whose session is over: nothing was asked for. */
export const KEY_GONE: RunResult = {
  outcome: "failed",
  error: "auth_error",
  message: "The key of the job is deleted or over, or belongs to another account by now, so the job has ended.",
};

/** The result of a run whose body was encrypted under another secret of the server. */
export const UNREADABLE: RunResult = {
  outcome: "failed",
  error: "internal",
  message: "The body of the job cannot be read with the server's present secret. Change the job with a new body.",
};

/** The result of a run whose server did not live to store one. */
export const UNKNOWN: RunResult = {
  outcome: "unknown",
  message: "The server ended during the run, so it is unknown whether it took effect. It is not repeated.",
};

/** The sentence about occurrences without a run. */
export function missedMessage({ count }: Missed): string {
  return count === 1
    ? "No server ran within an hour of this time."
    : `No server ran within an hour of these ${count} times.`;
}

function textOf(value: unknown, lengthMax: number): string | undefined {
  return typeof value === "string" && value !== "" ? value.slice(0, lengthMax).toWellFormed() : undefined;
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
