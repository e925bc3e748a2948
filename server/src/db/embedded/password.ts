import { randomBytes } from "node:crypto";
import { chmod, chown, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { runAs, type Account } from "./account.ts";
import { SUPERUSER } from "./cluster.ts";
import { EmbeddedPostgresError, errorCode } from "./failure.ts";

/** The file lies beside `postgres/`: the user who runs Berth owns it, and PostgreSQL's own account cannot read it. */
const PASSWORD_FILE = "postgres.password";
const RULES_FILE = "pg_hba.conf";
/** Every login needs the password, even from a user who can reach the socket. */
const RULES = "local all all scram-sha-256\n";

/**
 * Returns the password of the cluster's roles. When its file is missing (at the first start, or after a version of Berth
 * that had none) the superuser gets a new one; the application's role gets it at its next login. No process of the cluster
 * may be alive.
 */
export async function settlePassword(
  dataDir: string,
  { cluster, binaries, account }: { readonly cluster: string; readonly binaries: string; readonly account: Account },
): Promise<string> {
  const file = path.join(dataDir, PASSWORD_FILE);
  const known = await readPassword(file);
  if (known !== undefined) return known;
  const password = randomBytes(32).toString("base64url");
  await runSingleUser(`alter role ${SUPERUSER} password '${password}'`, { cluster, binaries, account });
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${password}\n`, { mode: 0o600 });
  await chmod(draft, 0o600);
  await rename(draft, file);
  return password;
}

/** Writes the file of rules for logins, for PostgreSQL to read at its start, and returns its path. */
export async function writeLoginRules(home: string, account: Account): Promise<string> {
  const file = path.join(home, RULES_FILE);
  await writeFile(file, RULES, { mode: 0o600 });
  await chown(file, account.uid, account.gid);
  return file;
}

async function readPassword(file: string): Promise<string | undefined> {
  try {
    const text = (await readFile(file, "utf8")).trim();
    return text === "" ? undefined : text;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Runs a statement in PostgreSQL's single-user mode, which asks for no password. It goes by standard input, unseen. */
async function runSingleUser(
  statement: string,
  { cluster, binaries, account }: { readonly cluster: string; readonly binaries: string; readonly account: Account },
): Promise<void> {
  const program = ["setpriv", "--pdeathsig", "KILL", path.join(binaries, "bin", "postgres")];
  const command = [...program, "--single", "-D", cluster, "-c", "log_min_error_statement=panic", "postgres"];
  const { code, output } = await runAs(account, command, `${statement}\n`);
  if (code === 0 && !output.includes("ERROR:")) return;
  throw new EmbeddedPostgresError(`PostgreSQL could not set the password of its roles: ${output.trim()}`);
}
