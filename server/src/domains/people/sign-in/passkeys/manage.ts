import { conflict, invalid, notFound, type AppError } from "../../../../base/errors.ts";
import type { Caller, Identity } from "../../../../base/identity.ts";
import type { PasskeyId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { lockUser, recordAudit } from "../../accounts/index.ts";
import { findPasswordHash, notForTeams, UNFIT } from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";
import { listIssuersOf } from "../sso/identity-store.ts";
import { deletePasskey, listPasskeys, setPasskeyLabel, type Passkey } from "./store.ts";

const LABEL_LENGTH_MAX = 30;
const FIRST_LABEL = "passkey";

/** The passkeys of the caller, oldest first. */
export async function listOwnPasskeys(db: Reader, identity: Identity): Promise<readonly Passkey[]> {
  refuseTeam(identity);
  return listPasskeys(db, identity.userId);
}

export async function renamePasskey(
  tx: Tx,
  { identity, ipAddress }: Caller,
  { id, label }: { readonly id: PasskeyId | undefined; readonly label: string },
): Promise<Passkey> {
  refuseTeam(identity);
  const { userId } = identity;
  await lockUser(tx, userId);
  if (id === undefined || !(await setPasskeyLabel(tx, userId, id, label))) throw noSuchPasskey();
  await recordAudit(tx, identity, { ipAddress, action: "api.passkey.update", args: { id, label } });
  return requireOwn(tx.db, identity, id);
}

/** Deletes a passkey, unless nothing else would let its owner in. */
export async function removePasskey(
  tx: Tx,
  { identity, ipAddress }: Caller,
  id: PasskeyId | undefined,
  { sso }: Pick<SignInMeans, "sso">,
): Promise<void> {
  refuseTeam(identity);
  const { userId } = identity;
  await lockUser(tx, userId);
  const known = await listPasskeys(tx.db, userId);
  const passkey = known.find((one) => one.id === id);
  if (passkey === undefined) throw noSuchPasskey();
  const isOnly = known.length === 1;
  if (isOnly && !(await hasOtherWayIn(tx.db, identity, sso?.settings.issuer))) {
    throw conflict(
      "last_way_in",
      "This passkey is the only way into your account. Add another one, or set a password, before you delete it.",
    );
  }
  await deletePasskey(tx, passkey.id);
  await recordAudit(tx, identity, { ipAddress, action: "api.passkey.delete", args: { id: passkey.id } });
}

/** True for an account with a password, or one that the issuer of this server opens. API keys are for programs. */
async function hasOtherWayIn(db: Reader, { userId }: Identity, issuer: URL | undefined): Promise<boolean> {
  if ((await findPasswordHash(db, userId)) !== undefined) return true;
  if (issuer === undefined) return false;
  const issuers = await listIssuersOf(db, userId);
  // The issuer's own name may lack the slash that an address has.
  return issuers.some((name) => URL.parse(name)?.href === issuer.href);
}

/** The caller's passkey of this id. */
export async function requireOwn(db: Reader, { userId }: Identity, id: number): Promise<Passkey> {
  const passkey = (await listPasskeys(db, userId)).find((one) => one.id === id);
  if (passkey === undefined) throw noSuchPasskey();
  return passkey;
}

/** The label of a passkey for people to tell it by; a plain one for a new passkey without any. */
export function readPasskeyLabel(text: string | undefined): string {
  const label = text?.normalize("NFC").trim() ?? FIRST_LABEL;
  if (label !== "" && label.length <= LABEL_LENGTH_MAX && !UNFIT.test(label)) return label;
  throw invalid("label", `label must have 1 to ${LABEL_LENGTH_MAX} characters, and no control characters`);
}

function refuseTeam({ memberId }: Identity): void {
  if (memberId !== undefined) throw notForTeams("A team has no passkeys: each member has their own.");
}

function noSuchPasskey(): AppError {
  return notFound("no_such_passkey", "You have no passkey of this id.");
}
