/** Wrong codes of one factor since the last right one. */
export type FactorLock = {
  readonly failCount: number;
  /** How often the factor was locked since the last right code. */
  readonly lockCount: number;
  readonly lockedUntil: Date | undefined;
};

export const OPEN: FactorLock = { failCount: 0, lockCount: 0, lockedUntil: undefined };

const LOCK_MS = 15 * 60_000;
const LOCK_MS_MAX = 24 * 3_600_000;

export function isLocked({ lockedUntil }: FactorLock, now: Date): boolean {
  return lockedUntil !== undefined && lockedUntil > now;
}

/**
 * The lock after one more wrong code. The first lock lasts a quarter of an hour and each further one twice as long as the
 * one before, up to a day: six digits do not outlast years of guessing otherwise.
 */
export function afterFailure(lock: FactorLock, { max, now }: { readonly max: number; readonly now: Date }): FactorLock {
  // A lock that is over gives all its attempts back.
  const failCount = (lock.lockedUntil === undefined ? lock.failCount : 0) + 1;
  if (failCount < max) return { failCount, lockCount: lock.lockCount, lockedUntil: undefined };
  const lockMs = Math.min(LOCK_MS * 2 ** Math.min(lock.lockCount, 10), LOCK_MS_MAX);
  return { failCount, lockCount: lock.lockCount + 1, lockedUntil: new Date(now.getTime() + lockMs) };
}

/** Wrong codes that lock a factor: three of text messages and mails, five of an app; backup codes cannot be guessed. */
export function failuresMax(factor: string): number {
  return factor.startsWith("sms") || factor === "phone" || factor === "email" ? 3 : 5;
}
