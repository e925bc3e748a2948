// Two PostgreSQL that Patroni keeps, one of them a synchronous standby, behind a HAProxy that leads to the primary: with the
// files of deploy/, on ports of the loopback.
import { chown, mkdir, readFile, readdir } from "node:fs/promises";
import path from "node:path";
import pg from "pg";
import { freePort } from "../network/free-port.ts";
import { memoryDirectory } from "../database/memory-directory.ts";
import { until } from "../until.ts";
import { Etcd } from "./etcd.ts";
import { HaProxy } from "./haproxy.ts";
import {
  postgresAccount,
  removeFolder,
  startProgram,
  writeDeployed,
  type Program,
  type ServiceAccount,
} from "./program.ts";

const NAMES = ["one", "two"] as const;
const SUPERUSER_PASSWORD = "change-me-superuser";
const OWNER_PASSWORD = "berth-in-tests";

type Member = {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  readonly restPort: number;
  program: Program;
};

export type PatroniOptions = {
  /** Members of the store; three survive the death of one. */
  readonly etcdCount?: number;
  /** Seconds after which a dead machine is replaced, in place of those of the file. */
  readonly timing?: { readonly ttl: number; readonly loopWait: number; readonly retryTimeout: number } | undefined;
};

export class Patroni {
  readonly etcd: Etcd;
  readonly members: readonly Member[];
  readonly proxy: HaProxy;

  private constructor(etcd: Etcd, members: readonly Member[], proxy: HaProxy) {
    this.etcd = etcd;
    this.members = members;
    this.proxy = proxy;
  }

  static async start({ etcdCount = 1, timing }: PatroniOptions = {}): Promise<Patroni> {
    const account = postgresAccount();
    const etcd = await Etcd.start(etcdCount);
    const members: Member[] = [];
    for (const name of NAMES) members.push(await makeMember(name, { etcd, account, timing }));
    const [one, two] = members;
    if (one === undefined || two === undefined) throw new Error("there are two members");
    const proxy = await HaProxy.start("database.cfg", "bind 127.0.0.1:5000", {
      "server one 10.0.0.1:5432 check port 8008": `server one 127.0.0.1:${one.port} check port ${one.restPort}`,
      "server two 10.0.0.2:5432 check port 8008": `server two 127.0.0.1:${two.port} check port ${two.restPort}`,
    });
    const patroni = new Patroni(etcd, members, proxy);
    try {
      await patroni.untilWhole();
      await patroni.#makeDatabase();
      return patroni;
    } catch (error) {
      const output = members.map(({ program }) => program.output().slice(-4_000)).join("\n");
      await patroni.stop();
      throw new Error(`Patroni did not start: ${output}`, { cause: error });
    }
  }

  /** The database of Berth at the primary of the moment. */
  get url(): string {
    return `postgresql://berth:${OWNER_PASSWORD}@127.0.0.1:${this.proxy.port}/berth`;
  }

  /** The primary, for tools that copy all of it. */
  get replicationUrl(): string {
    return `postgresql://replicator:change-me-replicator@127.0.0.1:${this.proxy.port}/`;
  }

  /** The member that leads; undefined while none does. */
  async primary(): Promise<Member | undefined> {
    const answers = await Promise.all(
      this.members.map(({ restPort }) => fetch(`http://127.0.0.1:${restPort}/primary`).catch(() => undefined)),
    );
    for (const answer of answers) await answer?.text();
    return this.members.find((_, index) => answers[index]?.status === 200);
  }

  async standby(): Promise<Member> {
    const primary = await this.primary();
    const found = this.members.find((member) => member !== primary);
    if (primary === undefined || found === undefined) throw new Error("there is no primary at the moment");
    return found;
  }

  /** Kills PostgreSQL of a member and all its processes; if asked its Patroni first, as when the machine dies. */
  async kill(member: Member, { withPatroni }: { readonly withPatroni: boolean }): Promise<void> {
    if (withPatroni) await member.program.end("SIGKILL");
    const postmaster = await readPostmaster(member);
    if (postmaster === undefined) return;
    for (const pid of [postmaster, ...(await childrenOf(postmaster))]) kill(pid);
  }

  /** Starts a killed Patroni again, as its supervisor would. */
  restart(member: Member): void {
    if (!member.program.isRunning()) member.program = startPatroni(member);
  }

  /** Waits until there is a primary with a synchronous standby behind it, and HAProxy leads to the primary. */
  async untilWhole(): Promise<void> {
    await until("a primary with a synchronous standby, and HAProxy to lead there", async () => {
      // PostgreSQL is asked first: just after a death Patroni still tells what was.
      const client = await connectAs(this.proxy.port);
      const text = `select not pg_is_in_recovery() and exists (
          select from pg_stat_replication where sync_state = 'sync' and state = 'streaming'
        ) as is_whole`;
      const { rows } = await client.query(text).finally(() => client.end());
      // Patroni notes who may take over only after PostgreSQL has begun to wait for that one.
      return rows[0]?.is_whole === true && (await this.#hasHeir());
    });
  }

  async #hasHeir(): Promise<boolean> {
    const primary = await this.primary();
    if (primary === undefined) return false;
    const answer = await fetch(`http://127.0.0.1:${primary.restPort}/cluster`);
    const { members } = (await answer.json()) as { readonly members: readonly { readonly role: string }[] };
    return members.some(({ role }) => role === "sync_standby");
  }

  async stop(): Promise<void> {
    for (const member of this.members) await this.kill(member, { withPatroni: true });
    await this.proxy.stop();
    await this.etcd.stop();
    for (const { folder } of this.members) await removeFolder(folder);
  }

  async #makeDatabase(): Promise<void> {
    const client = await connectAs(this.proxy.port);
    await client.query(`create role berth login password '${OWNER_PASSWORD}'`);
    await client.query("create database berth owner berth");
    await client.end();
  }
}

async function connectAs(port: number): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: `postgresql://postgres:${SUPERUSER_PASSWORD}@127.0.0.1:${port}/postgres`,
  });
  client.on("error", () => {});
  await client.connect();
  return client;
}

async function makeMember(
  name: string,
  { etcd, account, timing }: { readonly etcd: Etcd; readonly account: ServiceAccount } & Pick<PatroniOptions, "timing">,
): Promise<Member> {
  const folder = await memoryDirectory();
  for (const each of [folder, path.join(folder, "run")]) {
    await mkdir(each, { recursive: true, mode: 0o700 });
    if (account !== undefined) await chown(each, account.uid, account.gid);
  }
  const [port, restPort] = [await freePort(), await freePort()];
  await writeDeployed("patroni/patroni.yml", path.join(folder, "patroni.yml"), {
    account,
    replacing: {
      "name: one": `name: ${name}`,
      "10.0.0.1:8008": `127.0.0.1:${restPort}`,
      "10.0.0.1:2379,10.0.0.2:2379,10.0.0.3:2379": etcd.hosts,
      "10.0.0.1:5432": `127.0.0.1:${port}`,
      "10.0.0.0/24": "127.0.0.1/32",
      "/var/lib/postgresql/berth.pgpass": path.join(folder, "pgpass"),
      "/var/lib/postgresql/berth": path.join(folder, "data"),
      "/var/run/postgresql": path.join(folder, "run"),
      "local all postgres peer": "local all all trust",
      ...(timing === undefined
        ? {}
        : {
            "ttl: 20": `ttl: ${timing.ttl}`,
            "loop_wait: 5": `loop_wait: ${timing.loopWait}`,
            "retry_timeout: 5": `retry_timeout: ${timing.retryTimeout}`,
          }),
    },
  });
  const place = { name, folder, port, restPort };
  return { ...place, program: startPatroni(place) };
}

function startPatroni({ folder }: Pick<Member, "folder">): Program {
  const account = postgresAccount();
  return startProgram("patroni", [path.join(folder, "patroni.yml")], { account, cwd: folder, env: { HOME: folder } });
}

async function readPostmaster({ folder }: Member): Promise<number | undefined> {
  const text = await readFile(path.join(folder, "data/postmaster.pid"), "utf8").catch(() => "");
  const pid = Number(text.split("\n")[0]);
  return pid > 0 ? pid : undefined;
}

async function childrenOf(parent: number): Promise<readonly number[]> {
  const found: number[] = [];
  for (const entry of await readdir("/proc")) {
    const pid = Number(entry);
    if (!(pid > 0)) continue;
    const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    if (Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[1]) === parent) found.push(pid);
  }
  return found;
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended by itself in this moment.
  }
}
