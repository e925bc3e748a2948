import { createHash } from "node:crypto";

const MINUTE_MS = 60_000;
/** A certificate is renewed when this part of its lifetime is left, a little earlier or later. */
const LEFT_PART = 3;
/** Up to this part of the lifetime the renewal comes earlier, so that names of one start are not all renewed at once. */
const JITTER_PART = 30;
/** Waits after failures in a row. The first is short: a name whose DNS was just set works within minutes. */
const BACK_OFF_MINUTES = [2, 15, 30, 60, 120, 240, 480, 720] as const;
/** With less than this part of its lifetime left, renewals must have failed for days. */
const CLOSE_PART = 6;

export type Lifetime = { readonly issuedAt: Date; readonly expiresAt: Date };

/** The moment from which a certificate is to be renewed. It is the same for the same certificate on every server. */
export function renewalAt(name: string, { issuedAt, expiresAt }: Lifetime): Date {
  const lifetimeMs = expiresAt.getTime() - issuedAt.getTime();
  const jitter = fractionOf(`${name} ${expiresAt.toISOString()}`);
  return new Date(expiresAt.getTime() - lifetimeMs / LEFT_PART - (jitter * lifetimeMs) / JITTER_PART);
}

/** The moment of the next order after so many failures in a row, up to a tenth later for some names. */
export function retryAt(name: string, failureCount: number, now: Date): Date {
  const index = Math.min(Math.max(failureCount, 1), BACK_OFF_MINUTES.length) - 1;
  const minutes = BACK_OFF_MINUTES[index] ?? BACK_OFF_MINUTES[0];
  const jitter = 1 + fractionOf(`${name} ${now.toISOString()}`) / 10;
  return new Date(now.getTime() + minutes * MINUTE_MS * jitter);
}

/** True when a certificate ends soon although it should have been renewed long before. */
export function isCloseToItsEnd({ issuedAt, expiresAt }: Lifetime, now: Date): boolean {
  const lifetimeMs = expiresAt.getTime() - issuedAt.getTime();
  return expiresAt.getTime() - now.getTime() < lifetimeMs / CLOSE_PART;
}

/** A number from 0 to below 1 that follows from a text. */
function fractionOf(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE(0) / 2 ** 32;
}
