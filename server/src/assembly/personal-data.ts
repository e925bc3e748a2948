import type { UserId } from "../base/ids.ts";
import type { PersonalData } from "../base/personal-data.ts";
import type { Reader, Tx } from "../db/transaction.ts";
import { collectDocumentData } from "../domains/money/invoices/for-assembly.ts";
import { collectNotificationData, eraseNotificationData } from "../domains/notifications/for-assembly.ts";
import { collectAccountData, eraseAccountData } from "../domains/people/accounts/for-assembly.ts";
import { eraseCloudData } from "../domains/people/clouds/for-assembly.ts";
import { collectSignInData, eraseSignInData } from "../domains/people/sign-in/for-assembly.ts";
import { collectInstanceData } from "../domains/rental/instances/for-assembly.ts";

/** Everything that the domains know of a person, for a copy that the person asks for. */
export async function collectPersonalData(db: Reader, userId: UserId): Promise<PersonalData> {
  return {
    ...(await collectAccountData(db, userId)),
    ...(await collectSignInData(db, userId)),
    ...(await collectNotificationData(db, userId)),
    ...(await collectInstanceData(db, userId)),
    ...(await collectDocumentData(db, userId)),
  };
}

/** Takes a person out of all domains. The account comes last: while it is there, nothing else begins for it. */
export async function erasePersonalData(tx: Tx, userId: UserId): Promise<void> {
  await eraseCloudData(tx, userId);
  await eraseNotificationData(tx, userId);
  await eraseSignInData(tx, userId);
  await eraseAccountData(tx, userId);
}
