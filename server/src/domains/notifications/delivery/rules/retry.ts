/** The outcome of one attempt. Only `retry` leads to another one. */
export type Outcome = {
  readonly kind: "delivered" | "retry" | "refused";
  /** A short text for the user: `answered 503`. */
  readonly text: string;
};

const FIRST_DELAY_MS = 15_000;
const DELAY_MS_MAX = 2 * 3_600_000;
/** With the delays above, a delivery is given up by its age before it reaches this limit. */
export const ATTEMPTS_MAX = 30;
/** After this time a message helps nobody; it can still be read in the inbox. */
export const AGE_MS_MAX = 24 * 3_600_000;

/** The outcome of a delivery by its HTTP status (docs/notifications.md#webhooks). A redirect is never followed. */
export function judgeStatus(status: number): Outcome {
  const text = `answered ${status}`;
  if (status >= 200 && status < 300) return { kind: "delivered", text };
  return { kind: status === 408 || status === 429 || status >= 500 ? "retry" : "refused", text };
}

export type Tried = {
  /** Counted from 1. */
  readonly attempt: number;
  readonly createdAt: Date;
  readonly now: Date;
  /** A random number from 0 up to 1, so that deliveries that failed together are not retried together. */
  readonly chance: number;
};

/**
 * The time of the next attempt; undefined when the delivery is given up. Each delay is twice the one before, less a
 * random part of up to half.
 */
export function nextAttemptAt({ attempt, createdAt, now, chance }: Tried): Date | undefined {
  if (attempt >= ATTEMPTS_MAX) return undefined;
  const wholeMs = Math.min(DELAY_MS_MAX, FIRST_DELAY_MS * 2 ** (attempt - 1));
  const atMs = now.getTime() + Math.ceil(wholeMs * (1 - chance / 2));
  return atMs > createdAt.getTime() + AGE_MS_MAX ? undefined : new Date(atMs);
}
