import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { globSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { freePort } from "../network/free-port.ts";

const run = promisify(execFile);
const RECIPE = path.join(import.meta.dirname, "../../../deploy/pgbackrest");
const PROGRAMS = path.dirname(globSync("/usr/lib/postgresql/*/bin/initdb").toSorted().at(-1) ?? "");
const MIB = 1024 ** 2;

/** A cluster of Debian's PostgreSQL, on a port of the loopback. */
export type Cluster = {
  readonly folder: string;
  /** The address of its database `berth`, for the owner of it. */
  readonly url: string;
  start(): Promise<void>;
  /** A statement as its superuser. */
  sql(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Ends it without a checkpoint, as a crash would, and deletes all of it. */
  destroy(): Promise<void>;
};

/** Debian's PostgreSQL and pgBackRest with the recipe of deploy/pgbackrest, in a folder of their own. */
export type ArchivedPostgres = {
  readonly first: Cluster;
  /** The place for a restore; nothing is there yet. */
  readonly second: Cluster;
  pgbackrest(...words: readonly string[]): Promise<string>;
  close(): Promise<void>;
};

export async function archivedPostgres(): Promise<ArchivedPostgres> {
  const top = await mkdtemp(path.join(tmpdir(), "berth-archive-"));
  await chmod(top, 0o755);
  const own = async (name: string) => {
    const folder = path.join(top, name);
    await mkdir(folder, { mode: 0o700 });
    await run("chown", ["postgres:postgres", folder]);
    return folder;
  };
  const [repository, log, lock, socket] = [
    await own("repository"),
    await own("log"),
    await own("lock"),
    await own("run"),
  ];
  const config = path.join(top, "pgbackrest.conf");
  const firstPort = await freePort();
  const given = await readFile(path.join(RECIPE, "pgbackrest.conf"), "utf8");
  const replaced = given
    .replace(/^repo1-path=.*$/m, `repo1-path=${repository}\nlog-path=${log}\nlock-path=${lock}`)
    .replace(/^pg1-path=.*$/m, `pg1-path=${path.join(top, "first")}`)
    .replace(/^pg1-port=.*$/m, `pg1-port=${firstPort}`)
    .replace(/^pg1-socket-path=.*$/m, `pg1-socket-path=${socket}`);
  await writeFile(config, replaced, { mode: 0o644 });
  const settings = (await readFile(path.join(RECIPE, "postgresql.conf"), "utf8")).replace(
    "pgbackrest ",
    `pgbackrest --config=${config} `,
  );
  const asPostgres = async (program: string, ...words: readonly string[]) => {
    const { stdout, stderr } = await run("runuser", ["-u", "postgres", "--", program, ...words], {
      cwd: "/",
      maxBuffer: 16 * MIB,
    });
    return `${stdout}${stderr}`;
  };
  const clusterAt = (name: string, port: number): Cluster => {
    const folder = path.join(top, name);
    const control = (...words: readonly string[]) =>
      asPostgres(
        path.join(PROGRAMS, "pg_ctl"),
        "-D",
        folder,
        "-w",
        "-t",
        "600",
        "-l",
        path.join(log, `${name}.log`),
        ...words,
      );
    const sql: Cluster["sql"] = async (text) => {
      const client = new pg.Client({ host: "127.0.0.1", port, user: "postgres", database: "postgres" });
      await client.connect();
      try {
        return (await client.query<Record<string, unknown>>(text)).rows;
      } finally {
        await client.end();
      }
    };
    return {
      folder,
      url: `postgres://berth@127.0.0.1:${port}/berth`,
      start: async () => {
        await control("-o", `-p ${port} -k ${socket} -h 127.0.0.1`, "start");
      },
      sql,
      async destroy() {
        await control("-m", "immediate", "stop").catch(() => "it does not run");
        await rm(folder, { recursive: true, force: true });
      },
    };
  };
  for (const name of ["first", "second"]) await own(name);
  const [first, second] = [clusterAt("first", firstPort), clusterAt("second", await freePort())];
  await asPostgres(path.join(PROGRAMS, "initdb"), "-D", first.folder, "-A", "trust", "-E", "UTF8", "-k", "-N");
  await run("sh", ["-c", `cat >> ${path.join(first.folder, "postgresql.conf")} <<'END'\n${settings}\nEND`]);
  await first.start();
  await first.sql("create role berth login");
  await first.sql("create database berth owner berth");
  return {
    first,
    second,
    pgbackrest: (...words) => asPostgres("pgbackrest", `--config=${config}`, "--stanza=berth", ...words),
    async close() {
      for (const cluster of [first, second]) await cluster.destroy();
      await rm(top, { recursive: true, force: true });
    },
  };
}
