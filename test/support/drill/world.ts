// Three servers behind a HAProxy, over two PostgreSQL that Patroni keeps, with many simulated hosts: every part a process of its
// own, with the files of deploy/.
import { copyFile } from "node:fs/promises";
import path from "node:path";
import pg from "pg";
import {
  startSimulatedAgents,
  simulationToken,
  type SimulatedAgents,
} from "../../../bench/support/simulated-agents.ts";
import { createLog } from "../../../server/src/base/log.ts";
import { connect } from "../../../server/src/db/connect.ts";
import {
  aDataDir,
  NO_LIMITS,
  removeDataDir,
  sendRequest,
  startBerth,
  type Berth,
  type StartOptions,
} from "../berth.ts";
import { HaProxy } from "../cluster/haproxy.ts";
import { Patroni, type PatroniOptions } from "../cluster/patroni.ts";
import { makeAccount, type Account } from "../crash/world.ts";
import { aFactKeeper } from "../database/facts.ts";
import { memoryDirectory } from "../database/memory-directory.ts";
import { freePort } from "../network/free-port.ts";
import { until } from "../until.ts";
import { laterVersion, type Version } from "../upgrade/versions.ts";

const SERVERS = ["one", "two", "three"] as const;
const GPUS_PER_HOST = 4;
/** The schema of the version that the servers are upgraded to. */
const NEWER_SCHEMA = { "server/migrations/9000_column.sql": "alter table instances add column later text;\n" };
const SETTINGS = { ...NO_LIMITS, BERTH_PROXY_PORTS: "off", BERTH_LOG_LEVEL: "error", BERTH_TRUST_PROXY: "1" };

type Server = { berth: Berth; options: StartOptions };
export type DrillOptions = { readonly hosts: number; readonly timing?: PatroniOptions["timing"] };

export class DrillWorld {
  readonly patroni: Patroni;
  readonly servers: Server[];
  readonly front: HaProxy;
  #agents: SimulatedAgents | undefined;
  readonly #agentFolder: string;
  #newer: Version | undefined;

  private constructor(parts: { patroni: Patroni; servers: Server[]; front: HaProxy; agentFolder: string }) {
    this.patroni = parts.patroni;
    this.servers = parts.servers;
    this.front = parts.front;
    this.#agentFolder = parts.agentFolder;
  }

  static async open({ hosts, timing }: DrillOptions): Promise<DrillWorld> {
    const patroni = await Patroni.start({ etcdCount: 3, timing });
    const servers: Server[] = [];
    const ports = [await freePort(), await freePort(), await freePort()];
    const front = await HaProxy.start(
      "servers.cfg",
      "bind :80",
      Object.fromEntries(
        SERVERS.map((name, index) => [
          `server ${name} 10.0.0.${index + 1}:8080`,
          `server ${name} 127.0.0.1:${ports[index]}`,
        ]),
      ),
    );
    const world = new DrillWorld({ patroni, front, servers, agentFolder: await memoryDirectory() });
    for (const port of ports) servers.push(await startServer(patroni.url, { port, front, first: servers[0] }));
    await world.#startHosts(hosts);
    return world;
  }

  get url(): string {
    return `http://127.0.0.1:${this.front.port}`;
  }

  /** A client of the proxy, which knows no single server. */
  get berth(): Pick<Berth, "call" | "adminKey" | "sql"> {
    return {
      adminKey: this.servers[0]?.berth.adminKey ?? "",
      call: (method, target, call) => sendRequest(`${this.url}${target}`, method, call),
      sql: (text, values = []) => queryAt(this.patroni.url, text, values),
    };
  }

  any(): Pick<Berth, "call" | "adminKey"> {
    return this.berth;
  }

  anAccount(email: string, dollars: number): Promise<Account> {
    return makeAccount(this.berth, email, dollars);
  }

  async killServer(index: number): Promise<void> {
    await this.servers[index]?.berth.kill();
  }

  async restartServer(index: number): Promise<void> {
    const server = this.servers[index];
    if (server !== undefined) server.berth = await startBerth(server.options);
  }

  /** Makes the newer version of an upgrade. */
  async prepareUpgrade(): Promise<void> {
    this.#newer ??= await laterVersion("99.0.0", NEWER_SCHEMA);
  }

  /** Tells a server to stop, and starts the newer version in its place. */
  async upgradeServer(index: number): Promise<void> {
    const [server, newer] = [this.servers[index], this.#newer];
    if (server === undefined || newer === undefined) throw new Error("there is nothing to upgrade");
    server.options = { ...server.options, program: newer.program };
    await server.berth.stop();
    server.berth = await startBerth(server.options);
  }

  /** Waits until every server can serve. */
  async untilReady(): Promise<void> {
    for (const { berth } of this.servers) {
      await until("a server to be ready", async () => {
        const answer = await berth.call("GET", "/readyz");
        if (answer.status !== 200) throw new Error(answer.text);
        return true;
      });
    }
  }

  /** `./berth audit --full`, by the first server. */
  async audit(): Promise<{ readonly isClean: boolean; readonly words: string }> {
    const berth = this.servers[0]?.berth;
    if (berth === undefined) throw new Error("there is no server");
    const { code, stdout, stderr } = await berth.cli("audit", "--full");
    return { isClean: code === 0, words: `${stdout}${stderr}`.trim() };
  }

  /** Stops the servers and what is in front of them, and leaves the database. */
  async stopServers(): Promise<void> {
    await this.#agents?.stop();
    this.#agents = undefined;
    await Promise.all(this.servers.map(({ berth }) => berth.stop()));
  }

  async close(): Promise<void> {
    await this.stopServers();
    await this.front.stop();
    await this.patroni.stop();
    for (const { berth } of this.servers) await removeDataDir(berth.dataDir);
    await removeDataDir(this.#agentFolder);
    await this.#newer?.remove();
  }

  async #startHosts(hosts: number): Promise<void> {
    const database = connect({ connectionString: this.patroni.url, max: 1 }, createLog("silent"), aFactKeeper());
    const token = await simulationToken(database).finally(() => database.close());
    const stateDir = this.#agentFolder;
    this.#agents = startSimulatedAgents(this.url, { token, hosts, gpus: GPUS_PER_HOST, stateDir, logLevel: "error" });
    await until(`${hosts} hosts to be connected`, async () => {
      const [row] = await this.berth.sql("select count(*)::int as count from machines where is_connected");
      return row?.["count"] === hosts;
    });
  }
}

async function startServer(
  databaseUrl: string,
  { port, front, first }: { readonly port: number; readonly front: HaProxy; readonly first: Server | undefined },
): Promise<Server> {
  const dataDir = await aDataDir();
  if (first !== undefined) await copyFile(path.join(first.berth.dataDir, "secret"), path.join(dataDir, "secret"));
  const address = `http://127.0.0.1:${front.port}`;
  const env = { ...SETTINGS, BERTH_PUBLIC_URL: address, BERTH_AGENT_URLS: address };
  const options = { port, dataDir, databaseUrl, args: ["--no-agent"], env };
  const given = first === undefined ? options : { ...options, adminKey: first.berth.adminKey };
  return { berth: await startBerth(given), options: given };
}

export async function queryAt(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}
