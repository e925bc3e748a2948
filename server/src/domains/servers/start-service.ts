import { timingSafeEqual } from "node:crypto";
import type { ServerId } from "../../base/ids.ts";
import type { Tx } from "../../db/transaction.ts";
import { secretCheckOf } from "./rules/secret-check.ts";
import { settingDifferences } from "./rules/settings.ts";
import {
  deleteServers,
  insertServer,
  listEarlierStarts,
  listServers,
  lockInstallation,
  setAdminKeyPlace,
  setSecretCheck,
  type KnownServer,
  type ServerDescription,
} from "./store.ts";

/**
 * A server that has been silent for this long delays no start: it is dead, or will learn of the start when it comes
 * back.
 */
const ALIVE_MS = 15_000;

/** The server may not start like this; the message says what to do. */
export class StartRefused extends Error {
  override readonly name = "StartRefused";
}

export type StartRequest = ServerDescription & {
  readonly secret: Buffer;
  /** The file that keeps the secret, for messages. */
  readonly secretFile: string;
  /** The operator has lost the secret of this database and continues with another one. */
  readonly isSecretReplaced: boolean;
  /** The operator wants the settings of this start to apply although other servers run with different ones. */
  readonly areSettingsReplaced: boolean;
};

export type Started = {
  /** Servers that ran on this data directory and that this start replaces. Their connections are over. */
  readonly earlierIds: readonly ServerId[];
  /** True when no other server runs on this database now. */
  readonly isAlone: boolean;
};

/**
 * Lets a server start on a database that others may use: it must have their secret and their settings. Locks the
 * installation until the transaction ends, so that concurrent first starts run one after the other.
 */
export async function admitStart(tx: Tx, request: StartRequest): Promise<Started> {
  const { secretCheck } = await lockInstallation(tx);
  const beating = (await listServers(tx.db)).filter(({ beatAt }) => tx.now.getTime() - beatAt.getTime() < ALIVE_MS);
  refuseCopy(request, beating);
  const alive = beating.filter(({ dataDirKey }) => dataDirKey !== request.dataDirKey);
  await agreeOnSecret(tx, { request, secretCheck, isAlone: alive.length === 0 });
  if (!request.areSettingsReplaced) refuseOtherSettings(request, alive[0]);
  return { earlierIds: await listEarlierStarts(tx, request.dataDirKey), isAlone: alive.length === 0 };
}

/** Only one process can run on a data directory; one with the same name in another place is a copy of it. */
function refuseCopy({ dataDirKey, place }: StartRequest, beating: readonly KnownServer[]): void {
  const original = beating.find((other) => other.dataDirKey === dataDirKey && other.place !== place);
  if (original === undefined) return;
  throw new StartRefused(
    `This data directory is a copy of that of the server in ${original.place}, which runs. Give each server a data ` +
      "directory of its own, or remove server.id from this one. If that server has just died, try again in 15 seconds.",
  );
}

async function agreeOnSecret(
  tx: Tx,
  {
    request: { secret, secretFile, isSecretReplaced },
    secretCheck,
    isAlone,
  }: { readonly request: StartRequest; readonly secretCheck: Buffer | null; readonly isAlone: boolean },
): Promise<void> {
  const check = secretCheckOf(secret);
  if (secretCheck !== null && timingSafeEqual(secretCheck, check)) return;
  if (secretCheck !== null && !isSecretReplaced) throw new StartRefused(wrongSecret(secretFile));
  if (secretCheck !== null && !isAlone) {
    throw new StartRefused("The secret cannot be replaced while other servers of this database run. Stop them first.");
  }
  await setSecretCheck(tx, check);
}

/** The message for a server with another secret. */
export function wrongSecret(secretFile: string): string {
  return (
    `The servers of this database have another secret. Set BERTH_SECRET to theirs, or copy the file "secret" of their ` +
    `data directory to ${secretFile}. If it is lost, BERTH_REPLACE_SECRET=1 goes on without the values that it encrypted (docs/run.md).`
  );
}

function refuseOtherSettings({ settings }: StartRequest, other: KnownServer | undefined): void {
  if (other === undefined) return;
  const differences = settingDifferences(settings, other.settings);
  if (differences.length === 0) return;
  const list = differences.map(({ name, mine, theirs }) => `${name} is ${mine} here and ${theirs} there`).join(", ");
  throw new StartRefused(
    `The server in ${other.place} runs on this database with other settings: ${list}. Set them alike, stop it first, or ` +
      "start with BERTH_REPLACE_SETTINGS=1 to make those of this start hold for all.",
  );
}

/** Inserts an admitted server; the connections of `earlierIds` must have been ended in this transaction. */
export async function enterServer(
  tx: Tx,
  description: ServerDescription,
  earlierIds: readonly ServerId[],
): Promise<ServerId> {
  await deleteServers(tx, earlierIds);
  return insertServer(tx, description);
}

/** Action of a start on the administrator's key. */
export type AdminKeyPlan =
  /** The key is in this data directory. */
  | { readonly kind: "keep" }
  /** This data directory gets a key: at the first start, when its key was lost, or when the operator asks for one. */
  | { readonly kind: "make" }
  /** The key of this database is in another data directory, and in use there. */
  | { readonly kind: "elsewhere"; readonly place: string | undefined };

/** Decides about the administrator's key. The caller has locked the installation by `admitStart`. */
export async function planAdminKey(
  tx: Tx,
  {
    dataDirKey,
    hasKeyFile,
    hasAdmin,
    isAskedFor,
  }: {
    readonly dataDirKey: string;
    readonly hasKeyFile: boolean;
    /** True when the database has an administrator's key. */
    readonly hasAdmin: boolean;
    /** The operator asks for a new key. */
    readonly isAskedFor: boolean;
  },
): Promise<AdminKeyPlan> {
  if (isAskedFor) return { kind: "make" };
  if (hasKeyFile) return { kind: "keep" };
  const { adminKeyDataDir, adminKeyPlace } = await lockInstallation(tx);
  if (!hasAdmin || adminKeyDataDir === dataDirKey) return { kind: "make" };
  return { kind: "elsewhere", place: adminKeyPlace ?? undefined };
}

/** Notes the data directory of the administrator's key when the key was just created or first found. */
export async function noteAdminKey(tx: Tx, plan: AdminKeyPlan, description: ServerDescription): Promise<void> {
  if (plan.kind === "elsewhere") return;
  const { adminKeyDataDir } = await lockInstallation(tx);
  if (plan.kind === "make" || adminKeyDataDir === null) await setAdminKeyPlace(tx, description);
}
