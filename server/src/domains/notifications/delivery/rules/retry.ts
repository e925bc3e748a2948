/** What came of one attempt. Only `retry` leads to another one. */
export type Outcome = {
  readonly kind: "delivered" | "retry" | "refused";
  /** In words, for the user: `answered 503`. */
  readonly text: string;
};

const FIRST_DELAY_MS = 15_000;
const DELAY_MS_MAX = 2 * 3_600_000;
/** With the delays above, a delivery is over by its age before it is by this. */
export const ATTEMPTS_MAX = 30;
/** After so long nobody is helped by hearing of it; it can still be read. */
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
  /** From 0 up to 1, by chance: so that what failed together does not come back together. */
  readonly chance: number;
};

/** When to try again; undefined when it is given up. Each delay is twice the one before, less up to half by chance. */
export function nextAttemptAt({ attempt, createdAt, now, chance }: Tried): Date | undefined {
  if (attempt >= ATTEMPTS_MAX) return undefined;
  const wholeMs = Math.min(DELAY_MS_MAX, FIRST_DELAY_MS * 2 ** (attempt - 1));
  const atMs = now.getTime() + Math.ceil(wholeMs * (1 - chance / 2));
  return atMs > createdAt.getTime() + AGE_MS_MAX ? undefined : new Date(atMs);
}
