import type { UserId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { listInstanceIdsOfScope } from "../../../rental/instances/for-charging.ts";
import { kindOfScope, type CapScope } from "../../ledger/index.ts";
import { sumPrepaid } from "../../ledger/for-charging.ts";
import { listVolumeIdsOfScope } from "../../../supply/volumes/for-charging.ts";
import { sumCharged, type Contracts } from "./spent-store.ts";

/** The spending of a user within a scope since a moment: charges, and prepayments into deposits. */
export async function spentWithin(
  db: Reader,
  { userId, scope, from }: { readonly userId: UserId; readonly scope: CapScope; readonly from: Date },
): Promise<Nanos> {
  const of = await contractsOf(db, userId, scope);
  const charged = await sumCharged(db, { userId, from, of });
  return nanos(charged + (await sumPrepaid(db, { userId, from, instanceIds: of?.instanceIds })));
}

/** The instances and volumes within a scope; undefined for the whole account. */
async function contractsOf(db: Reader, userId: UserId, scope: CapScope): Promise<Contracts | undefined> {
  if (kindOfScope(scope) === "account") return undefined;
  const instanceIds = await listInstanceIdsOfScope(db, userId, scope);
  return { instanceIds, volumeIds: await listVolumeIdsOfScope(db, userId, scope) };
}
