/**
 * True when an authenticator counts backwards or stands still, as a copy of it does (WebAuthn, section 6.1.1). Passkeys that
 * live on several devices count nothing and always say 0.
 */
export function wentBack(storedCount: number, sentCount: number): boolean {
  return (storedCount > 0 || sentCount > 0) && sentCount <= storedCount;
}
