import { open, readdir, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { runAs, type Account } from "./account.ts";
import { EmbeddedPostgresError, errorCode } from "./failure.ts";

export const SUPERUSER = "postgres";

const CLUSTER = "cluster";
const UNFINISHED = "cluster-unfinished-";

/**
 * Returns the cluster directory below `home`, creating it on the first start. It is made beside its place and moved
 * there when finished: after a failure at any point the next start finds a whole cluster or none.
 */
export async function ensureCluster(
  home: string,
  binaries: string,
  account: Account,
  isDurable: boolean,
): Promise<string> {
  const cluster = path.join(home, CLUSTER);
  await requireSameMajor(cluster, binaries, account);
  if ((await readVersion(cluster)) !== undefined) return cluster;

  for (const entry of await readdir(home)) {
    if (entry.startsWith(UNFINISHED)) await rm(path.join(home, entry), { recursive: true, force: true });
  }
  const unfinished = path.join(home, UNFINISHED + crypto.randomUUID());
  const made = await runAs(account, initdbCommand(unfinished, binaries, isDurable));
  if (made.code !== 0) {
    await rm(unfinished, { recursive: true, force: true });
    throw new EmbeddedPostgresError(`PostgreSQL could not create its database in ${home}: ${made.output.trim()}`);
  }
  await rename(unfinished, cluster);
  if (isDurable) await flushDirectory(home);
  return cluster;
}

/** The builtin locale sorts the same for ever: no library of the machine can change the order behind an index. */
function initdbCommand(directory: string, binaries: string, isDurable: boolean): readonly string[] {
  // Logins follow the rules that each start gives (password.ts); those inside the cluster are never used.
  const program = ["setpriv", "--pdeathsig", "KILL", path.join(binaries, "bin", "initdb")];
  const access = ["--pgdata", directory, "--username", SUPERUSER, "--auth", "reject"];
  const locale = ["--encoding", "UTF8", "--locale", "C", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"];
  return [...program, ...access, ...locale, "--no-instructions", ...(isDurable ? [] : ["--no-sync"])];
}

async function requireSameMajor(cluster: string, binaries: string, account: Account): Promise<void> {
  const have = await readVersion(cluster);
  if (have === undefined) return;
  const shown = await runAs(account, [path.join(binaries, "bin", "postgres"), "--version"]);
  const want = /(\d+)\./.exec(shown.output)?.[1];
  if (want === have) return;
  throw new EmbeddedPostgresError(
    `The database in ${cluster} was made by PostgreSQL ${have}, and this Berth brings ${want ?? "an unknown version"}: ` +
      "start it with the Berth that made it, or choose another --data-dir.",
  );
}

async function readVersion(cluster: string): Promise<string | undefined> {
  try {
    return (await readFile(path.join(cluster, "PG_VERSION"), "utf8")).trim();
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function flushDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
