import { lchown, mkdir, readdir, stat } from "node:fs/promises";
import path from "node:path";
import { EmbeddedPostgresError } from "./failure.ts";
import { runProcess, type Finished } from "./run-process.ts";

const NOBODY = 65534;
/** A system user that owns nothing but the database. */
const DATABASE_USER = "berth-postgres";

/**
 * The account that PostgreSQL runs as. It refuses user 0, so root has two ways: a system user of its own, or a user
 * namespace in which root's own files appear to belong to nobody. The second needs no file to change hands and works
 * below directories that only root may enter. The real `nobody` is never used: other services run as that user, and
 * could read the database.
 */
export type Account = {
  readonly uid: number;
  readonly gid: number;
  /** Words before every command. */
  readonly prefix: readonly string[];
  /** Options of `spawn`; empty when the process keeps our own user. */
  readonly spawnAs: { readonly uid?: number; readonly gid?: number };
};

/**
 * Chooses the account and makes `home` (0700, on the file system of the data directory) belong to it, with all that is
 * in it. `binaries` must be executable for it. Each way is tried for real, since mode bits do not tell the whole truth.
 */
export async function settleAccount(home: string, binaries: string): Promise<Account> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  const owner = await stat(home);
  const ownUid = process.getuid?.() ?? NOBODY;
  const ownGid = process.getgid?.() ?? NOBODY;
  if (ownUid !== 0) {
    if (owner.uid === ownUid) return { uid: ownUid, gid: ownGid, prefix: [], spawnAs: {} };
    throw new EmbeddedPostgresError(
      `The database in ${home} belongs to user ${owner.uid}: run as that user, or choose another --data-dir.`,
    );
  }
  for (const account of await accountsOfRoot(owner)) {
    if (await canWorkAs(account, home, binaries)) return account;
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL refuses to run as root, and no other user can work in ${home}: ` +
      "choose a --data-dir that every user may enter (such as /var/lib/berth), or set DATABASE_URL to a PostgreSQL of your own.",
  );
}

/** The owner of a database that exists stays its owner, unless that is `nobody`, as in earlier versions of Berth. */
async function accountsOfRoot(owner: { readonly uid: number; readonly gid: number }): Promise<readonly Account[]> {
  const ownUser = await databaseUser();
  const candidates = ownUser === undefined ? [inNamespace] : [ownUser, inNamespace];
  const isKept = owner.uid !== 0 && owner.uid !== NOBODY && owner.uid !== ownUser?.uid;
  return isKept ? [asUser(owner.uid, owner.gid), ...candidates] : candidates;
}

/** The system user of the database, made at the first start; undefined where users cannot be made, as on a read-only /etc. */
async function databaseUser(): Promise<Account | undefined> {
  const known = await lookUpUser();
  if (known !== undefined) return known;
  const options = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"];
  const made = await runProcess(["useradd", ...options, "--shell", "/usr/sbin/nologin", DATABASE_USER]);
  // Two first starts at once: one of them makes it.
  return made.code === 0 || made.output.includes("exists") ? lookUpUser() : undefined;
}

async function lookUpUser(): Promise<Account | undefined> {
  const found = await runProcess(["getent", "passwd", DATABASE_USER]);
  const [, , uid, gid] = found.code === 0 ? found.output.trim().split(":") : [];
  return uid === undefined || gid === undefined ? undefined : asUser(Number(uid), Number(gid));
}

function asUser(uid: number, gid: number): Account {
  return { uid, gid, prefix: [], spawnAs: { uid, gid } };
}

const inNamespace: Account = {
  uid: 0,
  gid: 0,
  prefix: ["unshare", "--user", `--map-user=${NOBODY}`, `--map-group=${NOBODY}`],
  spawnAs: {},
};

async function canWorkAs(account: Account, home: string, binaries: string): Promise<boolean> {
  const script = 'test -x "$1" && "$2/bin/postgres" --version';
  const tried = await runAs(account, ["sh", "-c", script, "sh", path.dirname(home), binaries]);
  if (tried.code !== 0) return false;
  try {
    await giveTree(home, account);
  } catch {
    return false; // Some file systems know no owners; the next account may do without.
  }
  return (await runAs(account, ["sh", "-c", 'test -w "$1"', "sh", home])).code === 0;
}

/** The top is given last, so that an interrupted pass is seen by the next start and done again. */
async function giveTree(directory: string, { uid, gid }: Account): Promise<void> {
  const top = await stat(directory);
  if (top.uid === uid && top.gid === gid) return;
  const entries = await readdir(directory, { recursive: true });
  for (const entry of entries) await lchown(path.join(directory, entry), uid, gid);
  await lchown(directory, uid, gid);
}

/** Runs a program to its end as the account, with `input` as its standard input. */
export function runAs(account: Account, command: readonly string[], input = ""): Promise<Finished> {
  return runProcess([...account.prefix, ...command], { ...account.spawnAs, env: postgresEnvironment(), input });
}

/** The environment of PostgreSQL. It gets none of ours: no secret, and no PG* variable that changes its settings. */
export function postgresEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"] ?? "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" };
}
