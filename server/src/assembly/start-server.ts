import { randomBytes } from "node:crypto";
import { realpath, rm } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import manifest from "../../../package.json" with { type: "json" };
import type { Clock } from "../base/clock.ts";
import { createEncryption } from "../base/encryption.ts";
import type { Log } from "../base/log.ts";
import type { UserId } from "../base/ids.ts";
import { nanos, NANOS_PER_DOLLAR } from "../base/money.ts";
import type { Config } from "./config.ts";
import type { Database } from "../db/connect.ts";
import { withTransaction, type Tx } from "../db/transaction.ts";
import { setArrearsLimit } from "../domains/money/limits/index.ts";
import { bootstrapAdmin, hasAdministrator, setAccountLimits } from "../domains/people/accounts/for-assembly.ts";
import {
  disconnectServers,
  issueAgentToken,
  restartPresence,
  setPriceCeilings,
  setTrafficRules,
} from "../domains/supply/hosts/for-assembly.ts";
import { shipTemplates } from "../domains/rental/templates/index.ts";
import { prepareProxyPorts } from "../domains/rental/instances/for-assembly.ts";
import { creditOf, ISSUANCE, postTransfer } from "../domains/money/ledger/index.ts";
import { setMarketRules } from "../domains/supply/market/for-assembly.ts";
import { setEarningsRules, setFeeRate } from "../domains/money/payments/for-assembly.ts";
import {
  admitStart,
  enterServer,
  noteAdminKey,
  planAdminKey,
  readInstallation,
  StartRefused,
  ThisServer,
  wrongSecret,
  type AdminKeyPlan,
  type ServerDescription,
} from "../domains/servers/index.ts";
import { dataDirKeyOf, findSecret, hasFile, SECRET_FILE, writePrivateFile } from "./files.ts";
import { ownSchema } from "./schema.ts";
import { sharedSettings } from "./shared-settings.ts";

const ADMIN_EMAIL = "admin@localhost.localdomain";
/** Credit granted once, so that the first rental needs only the key. The operator issues the money here anyway. */
const BOOTSTRAP_CREDIT_DOLLARS = 1_000n;

export type StartedServer = {
  readonly server: ThisServer;
  readonly secret: Buffer;
  /** The token of this server's own agent. */
  readonly token: string;
  readonly adminKey: AdminKeyPlan;
  readonly adminId: UserId;
};

type Means = { readonly database: Database; readonly clock: Clock; readonly log: Log };

/**
 * Adds this process to the servers of its database, whose settings it must share. Makes sure of the administrator, with
 * credit to try the market, and of the credential of this server's own agent; those of other servers stay.
 */
export async function startServer(config: Config, { database, clock, log }: Means): Promise<StartedServer> {
  const keyFile = path.join(config.dataDir, "admin.key");
  const hasKeyFile = await hasFile(keyFile);
  // Only a data directory that has served before has its key and no name.
  const { dataDirKey, isNew } = await dataDirKeyOf(config.dataDir);
  const place = `${hostname()}:${await realpath(config.dataDir)}`;
  const { agentAddresses } = config;
  const settings = sharedSettings(config);
  const { version } = manifest;
  const known = { settings, schemaNumber: await ownSchema(), version };
  const description = { dataDirKey, place, address: undefined, agentAddresses, ...known };
  const found = await secretOf(config, database);
  database.facts.useSecret(found.secret);
  const work = (tx: Tx) =>
    enter(tx, config, { description, secret: found.secret, hasKeyFile, isOld: isNew && hasKeyFile });
  const entered = await withTransaction(database, clock, work).catch(async (error: unknown) => {
    // A secret that was made for nothing would be the wrong one at the next start, too.
    if (error instanceof StartRefused && found.isNew) await rm(path.join(config.dataDir, SECRET_FILE), { force: true });
    throw error;
  });
  if (entered.keySecret !== undefined) await writePrivateFile(keyFile, `${entered.keySecret}\n`);
  const server = new ThisServer(entered.serverId, description, { database, clock, log });
  const { token, adminKey, adminId } = entered;
  return { server, secret: found.secret, token, adminKey, adminId };
}

/** The secret that is configured or kept in the data directory. One is made only where the database has none either. */
async function secretOf(
  { dataDir, isSecretReplaced }: Config,
  database: Database,
): Promise<{ readonly secret: Buffer; readonly isNew: boolean }> {
  const found = await findSecret(dataDir, process.env["BERTH_SECRET"]);
  if (found !== undefined) return { secret: found, isNew: false };
  const { secretCheck } = await readInstallation(database.kysely);
  const file = path.join(dataDir, SECRET_FILE);
  if (secretCheck !== null && !isSecretReplaced) throw new StartRefused(wrongSecret(file));
  const secret = randomBytes(32);
  await writePrivateFile(file, `${secret.toString("base64url")}\n`);
  return { secret, isNew: true };
}

type Entry = {
  readonly description: ServerDescription;
  readonly secret: Buffer;
  readonly hasKeyFile: boolean;
  /** True for a data directory from before servers had names. */
  readonly isOld: boolean;
};

async function enter(tx: Tx, config: Config, { description, secret, hasKeyFile, isOld }: Entry) {
  const { dataDirKey } = description;
  const secretFile = path.join(config.dataDir, SECRET_FILE);
  const { isSecretReplaced, areSettingsReplaced } = config;
  const start = { ...description, secret, secretFile, isSecretReplaced, areSettingsReplaced };
  const { earlierIds, isAlone } = await admitStart(tx, start);
  await disconnectServers(tx, earlierIds);
  // While no server ran nobody saw which machines were there.
  if (isAlone) await restartPresence(tx);
  const serverId = await enterServer(tx, description, earlierIds);
  await prepareProxyPorts(tx, config.proxyPorts);
  await setMarketRules(tx, config);
  await setPriceCeilings(tx, config.priceCeilings);
  await setTrafficRules(tx, config.trafficRules);
  await setFeeRate(tx, config.payments);
  await setEarningsRules(tx, config.payments);
  await setArrearsLimit(tx, config.arrearsLimit);
  await setAccountLimits(tx, config.accountLimits);
  const hasAdmin = await hasAdministrator(tx.db);
  const isAskedFor = config.isAdminKeyReplaced;
  const adminKey = await planAdminKey(tx, { dataDirKey, hasKeyFile, hasAdmin, isAskedFor });
  const hasKey = adminKey.kind !== "make";
  const admin = await bootstrapAdmin(tx, { email: ADMIN_EMAIL, hasKey, random: randomBytes });
  await noteAdminKey(tx, adminKey, description);
  await postTransfer(tx, {
    key: "bootstrap credit",
    debit: ISSUANCE,
    credit: creditOf(admin.userId),
    amount: nanos(BOOTSTRAP_CREDIT_DOLLARS * NANOS_PER_DOLLAR),
    code: "credit_granted",
    cause: { actor: "first start" },
    description: "Credit of the first start",
  });
  await shipTemplates(tx, admin.userId, { encryption: createEncryption(secret, randomBytes) });
  const name = config.simulatedHosts === undefined ? "this machine" : "simulated hosts";
  const own = { userId: admin.userId, name, isTrusted: true, dataDirKey, isDataDirOld: isOld };
  const token = await issueAgentToken(tx, own);
  return { serverId, adminKey, adminId: admin.userId, keySecret: admin.secret, token };
}
