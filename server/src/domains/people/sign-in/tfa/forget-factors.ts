import type { UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { setTfa } from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";
import { deleteBackupCodes } from "./backup-code-store.ts";
import { spendChallengesOf } from "./challenge-store.ts";
import { deleteLocks } from "./lock-store.ts";
import { deleteAuthorization, deleteSetup } from "./setup-store.ts";

/**
 * Switches the second factor of an account off, whose last method is deleted, and takes back what came with it: backup
 * codes, codes that were sent, and the leave to add methods, which a method or the password gave.
 */
export async function forgetFactors(tx: Tx, userId: UserId, { identities }: SignInMeans): Promise<void> {
  await deleteBackupCodes(tx, userId);
  await spendChallengesOf(tx, userId);
  await deleteAuthorization(tx, userId);
  await deleteSetup(tx, userId);
  await deleteLocks(tx, userId);
  await setTfa(tx, userId, false);
  tx.afterCommit(() => identities.forgetUser(userId));
}
