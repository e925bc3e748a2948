// A base backup of the primary with PostgreSQL's own tool, and a market that is served from it.
import { chown, copyFile, mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { aDataDir, discard, removeDataDir, run, startBerth } from "../berth.ts";
import { isListening } from "../cluster/is-listening.ts";
import type { Patroni } from "../cluster/patroni.ts";
import { postgresAccount, removeFolder, serviceFolder, startProgram } from "../cluster/program.ts";
import { freePort } from "../network/free-port.ts";
import { until } from "../until.ts";
import { queryAt } from "./world.ts";

const BIN = "/usr/lib/postgresql/15/bin";

export type BaseBackup = { readonly folder: string };

/** Takes a base backup while everything runs. */
export async function takeBackup(patroni: Patroni): Promise<BaseBackup> {
  const account = postgresAccount();
  const folder = await serviceFolder("drill-backup", account);
  const data = path.join(folder, "data");
  const program = startProgram(
    `${BIN}/pg_basebackup`,
    ["--pgdata", data, "--wal-method", "stream", "--checkpoint", "fast", "--dbname", patroni.replicationUrl],
    { account },
  );
  await program.ended;
  const done = await run("test", ["-f", path.join(data, "backup_label")]);
  if (done.code !== 0) throw new Error(`pg_basebackup failed: ${program.output()}`);
  return { folder };
}

export type Restored = {
  /** Rows that were there at the backup, by the query of the caller. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly auditWords: string;
  readonly isClean: boolean;
};

/** Starts a PostgreSQL on the backup, accepts it with `berth restore --external`, serves it, and asks `query`. */
export async function restoreBackup(
  { folder }: BaseBackup,
  {
    secretFile,
    databaseUrl,
    query,
  }: { readonly secretFile: string; readonly databaseUrl: string; readonly query: string },
): Promise<Restored> {
  const account = postgresAccount();
  const port = await freePort();
  const data = path.join(folder, "data");
  // Settings of the member that it was taken from.
  await rm(path.join(data, "standby.signal"), { force: true });
  const runFolder = path.join(folder, "run");
  await mkdir(runFolder);
  if (account !== undefined) await chown(runFolder, account.uid, account.gid);
  const settings = { port: String(port), unix_socket_directories: runFolder, synchronous_standby_names: "" };
  const program = startProgram(
    `${BIN}/postgres`,
    ["-D", data, ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
    { account },
  );
  const url = new URL(databaseUrl);
  url.port = String(port);
  const dataDir = await aDataDir();
  try {
    await until("PostgreSQL to serve the backup", async () => {
      if (!program.isRunning()) throw new Error(program.output());
      return (await isListening(port)) && (await queryAt(url.href, "select 1")).length === 1;
    });
    await copyFile(secretFile, path.join(dataDir, "secret"));
    const accepted = await run(
      path.join(import.meta.dirname, "../../../berth"),
      ["restore", "--external", "--data-dir", dataDir],
      {
        ...process.env,
        DATABASE_URL: url.href,
      },
    );
    const words = `${accepted.stdout}${accepted.stderr}`.trim();
    const berth = await startBerth({
      dataDir,
      databaseUrl: url.href,
      adminKey: "none",
      args: ["--no-agent"],
      env: { BERTH_PROXY_PORTS: "off", BERTH_REPLACE_SETTINGS: "1" },
    });
    const rows = await queryAt(url.href, query);
    await discard(berth);
    return { rows, auditWords: words, isClean: accepted.code === 0 };
  } finally {
    await program.end("SIGINT");
    await removeDataDir(dataDir);
    await removeFolder(folder);
  }
}
