import { createHmac, timingSafeEqual } from "node:crypto";

/** Time-based one-time passwords of RFC 6238, with the parameters that every authenticator app has. */
export const CODE_DIGITS = 6;
const STEP_SECONDS = 30;
/** Codes of the step before and after are taken as well: clocks of phones differ, and typing takes time. */
const STEPS_AROUND = 1;

export const stepAt = (at: Date): number => Math.floor(at.getTime() / 1000 / STEP_SECONDS);

/** The code of one step (RFC 4226 section 5.3). */
export function totp(
  secret: Buffer,
  step: number,
  { digits = CODE_DIGITS, algorithm = "sha1" }: { readonly digits?: number; readonly algorithm?: string } = {},
): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const hmac = createHmac(algorithm, secret).update(counter).digest();
  const offset = (hmac.at(-1) ?? 0) & 15;
  const value = hmac.readUInt32BE(offset) & 0x7fffffff;
  return String(value % 10 ** digits).padStart(digits, "0");
}

/**
 * The step whose code this is; undefined when the code is wrong, or of a step that was used already: up to `lastStep`
 * none is taken again.
 */
export function matchTotp(
  secret: Buffer,
  code: string,
  { now, lastStep }: { readonly now: Date; readonly lastStep: number | undefined },
): number | undefined {
  const current = stepAt(now);
  let found: number | undefined;
  for (let step = current - STEPS_AROUND; step <= current + STEPS_AROUND; step += 1) {
    const isEqual = isSameText(totp(secret, step), code);
    if (isEqual && step > (lastStep ?? -1)) found ??= step;
  }
  return found;
}

/** Compares in a time that says nothing about where the texts differ. */
export function isSameText(known: string, given: string): boolean {
  const [left, right] = [Buffer.from(known, "utf8"), Buffer.from(given, "utf8")];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** The address that an authenticator app reads from a QR code. */
export function provisioningUri(base32Secret: string, account: string): string {
  const query = new URLSearchParams({
    secret: base32Secret,
    issuer: "Berth",
    algorithm: "SHA1",
    digits: String(CODE_DIGITS),
    period: String(STEP_SECONDS),
  });
  return `otpauth://totp/Berth:${encodeURIComponent(account)}?${query.toString()}`;
}
