import type { PendingSignIn } from "../tfa/challenges.ts";

/** The answer to a right password of an account with a second factor. */
export function viewPending({ secret, methods, backupCodeCount }: PendingSignIn) {
  return {
    success: true as const,
    msg: "2fa_required" as const,
    secret,
    methods: [...methods],
    num_backup_codes: backupCodeCount,
  };
}
