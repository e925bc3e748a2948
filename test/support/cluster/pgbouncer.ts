import { chown, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import pg from "pg";
import { freePort } from "../network/free-port.ts";
import { until } from "../until.ts";
import { removeFolder, serviceFolder, startProgram, writeDeployed } from "./program.ts";

export type PgBouncer = { readonly url: string; stop(): Promise<void> };

/** A PgBouncer with the settings of deploy/pgbouncer, in front of the database of this URL. */
export async function startPgBouncer(databaseUrl: string): Promise<PgBouncer> {
  const target = new pg.Client({ connectionString: databaseUrl });
  const { host, port, user = "", password, database = "" } = target;
  // The socket of a test's PostgreSQL can be reached by its owner only, and PgBouncer refuses to run as root.
  const { uid, gid } = await stat(host);
  const account = process.getuid?.() === 0 ? { uid, gid } : undefined;
  const folder = await serviceFolder("pgbouncer", account);
  const users = path.join(folder, "userlist.txt");
  await writeFile(users, `"${user}" "${String(password)}"\n`);
  if (account !== undefined) await chown(users, account.uid, account.gid);
  const ownPort = await freePort();
  const config = path.join(folder, "pgbouncer.ini");
  await writeDeployed("pgbouncer/pgbouncer.ini", config, {
    account,
    replacing: {
      "berth = host=127.0.0.1 port=5000 dbname=berth": `berth = host=${host} port=${port} dbname=${database}`,
      "listen_port = 6432": `listen_port = ${ownPort}`,
      "/etc/pgbouncer/userlist.txt": users,
    },
  });
  const program = startProgram("pgbouncer", [config], { account });
  const url = `postgresql://${user}:${encodeURIComponent(String(password))}@127.0.0.1:${ownPort}/berth`;
  const stop = async () => {
    await program.end("SIGINT");
    await removeFolder(folder);
  };
  try {
    await until("PgBouncer to answer", async () => {
      if (!program.isRunning()) throw new Error(program.output());
      const client = new pg.Client({ connectionString: url });
      client.on("error", () => {});
      await client.connect();
      await client.end();
      return true;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}
