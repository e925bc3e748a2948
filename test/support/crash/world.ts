// One server or several over one PostgreSQL, and the agents of a few racks of simulated hosts, each a process of its own, to
// be killed and brought back as their supervisors would.
import { spawn, type ChildProcess } from "node:child_process";
import { appendFileSync } from "node:fs";
import { once } from "node:events";
import { copyFile, mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "../../../server/src/base/clock.ts";
import { createLog } from "../../../server/src/base/log.ts";
import { startEmbeddedPostgres, type EmbeddedPostgres } from "../../../server/src/db/embedded/postgres.ts";
import {
  cleanEnvironment,
  NO_LIMITS,
  removeDataDir,
  startBerth,
  type Berth,
  type Ended,
  type StartOptions,
} from "../berth.ts";
import type { Patroni } from "../cluster/patroni.ts";
import { copyFreshData } from "../database/fresh-data.ts";
import { memoryDirectory } from "../database/memory-directory.ts";
import { freePort } from "../network/free-port.ts";
import {
  engineOf,
  evidenceOf,
  HOSTS_PER_RACK,
  hostsOf,
  isLinked,
  LEASE_MS,
  linkOf,
  type EngineEvidence,
} from "./evidence.ts";
import { countContainers, losePower, readRunning, type RunningContainer } from "./lasting-engine.ts";
import { until } from "../until.ts";

const HOSTS_MAIN = path.join(import.meta.dirname, "lasting-hosts.ts");
const [RACKS, GPUS_PER_HOST] = [3, 4];
/** Ports for the programs of workers: the system, and the servers and agents of other tests, use none of them. */
const [PORT_FIRST, PORTS_PER_RACK] = [29_900, 200];
/** An absence long enough that every container has stopped by itself. */
const ABSENCE_MS = LEASE_MS + 12_000;
const OUTPUT_TAIL = 4_000;
/** How long one of several servers is away at most before it is started again. */
const DOWN_MAX_MS = 3_000;
/** How often all of several servers die at once. */
const ALL_AT_ONCE = 0.2;
const SETTINGS = {
  ...NO_LIMITS,
  BERTH_LEASE_SECONDS: String(LEASE_MS / 1000),
  BERTH_NOTICE_SECONDS: "1",
  BERTH_MIN_SLICE_SECONDS: "1",
  BERTH_LOG_LEVEL: "error",
  // Prices in these tests are far above those of any market.
  BERTH_TRAFFIC_PRICE_MAX: "1",
  BERTH_STORAGE_PRICE_MAX: "100",
  BERTH_TRAFFIC_LIMIT_BASE: "1000",
};
/** Prices in dollars, so high that each second costs some cents. */
const PRICES = { price_gpu: 30, price_min_bid: 6, price_disk: 50, price_inetu: 0.5, price_inetd: 0.25, vol_price: 80 };

export const KILLS = [
  "server",
  "postmaster",
  "backend",
  "agents",
  "server and agents",
  "power",
  "absence",
  // These need a PostgreSQL that fails over: its process, its whole machine, and the machine of its standby.
  "primary",
  "primary machine",
  "standby machine",
] as const;
export type Kill = (typeof KILLS)[number];

export type Account = { readonly id: number; readonly email: string; readonly key: string; readonly keyId: number };
/** The PostgreSQL that several servers share: one of this process, or two that Patroni keeps. */
type Shared =
  | { readonly dataDir: string; readonly url: string; readonly postgres: EmbeddedPostgres; readonly patroni?: never }
  | { readonly url: string; readonly patroni: Patroni };
type Server = { berth: Berth; readonly options: StartOptions; isUp: boolean };

type Rack = {
  readonly owner: Account;
  readonly stateDir: string;
  readonly words: readonly string[];
  child: ChildProcess;
  bootCount: number;
};

export class CrashWorld {
  readonly servers: Server[] = [];
  readonly racks: Rack[] = [];
  /** The PostgreSQL that several servers share; undefined where the only server has one of its own. */
  readonly #shared: Shared | undefined;

  private constructor(shared: Shared | undefined) {
    this.#shared = shared;
  }

  /**
   * With several servers, agents know all of them: they join at the first one and go to any that is alive. The caller stops
   * a Patroni that it gives.
   */
  static async open(serverCount = 1, patroni?: Patroni): Promise<CrashWorld> {
    const own = serverCount > 1 && patroni === undefined ? await openPostgres() : undefined;
    const world = new CrashWorld(patroni === undefined ? own : { url: patroni.url, patroni });
    try {
      while (world.servers.length < serverCount) await world.#addServer();
      for (let number = 1; number <= RACKS; number += 1) world.racks.push(await world.#addRack(number));
      await world.#untilLinked();
      await world.#priceMachines();
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  /** A server that was up when it was looked at last. */
  get berth(): Berth {
    const found = this.servers.find(({ isUp }) => isUp) ?? this.servers[0];
    if (found === undefined) throw new Error("there is no server");
    return found.berth;
  }

  /** Any of the servers, dead ones as well: a client of a dead one asks another one next. */
  any(random: () => number): Berth {
    return this.servers[Math.floor(random() * this.servers.length)]?.berth ?? this.berth;
  }

  async #addServer(): Promise<void> {
    const port = await freePort();
    const dataDir = await memoryDirectory();
    if (this.#shared === undefined) await copyFreshData(dataDir);
    const [first] = this.servers;
    if (first !== undefined) await copyFile(path.join(first.berth.dataDir, "secret"), path.join(dataDir, "secret"));
    const shared = this.#shared === undefined ? {} : { databaseUrl: this.#shared.url };
    const addresses = this.#shared === undefined ? {} : { BERTH_AGENT_URLS: `http://127.0.0.1:${port}` };
    const options = { port, dataDir, ...shared, args: ["--no-agent"], env: { ...SETTINGS, ...addresses } };
    const given = first === undefined ? options : { ...options, adminKey: first.berth.adminKey };
    this.servers.push({ berth: await startBerth(given), options: given, isUp: true });
  }

  async #untilLinked(): Promise<void> {
    await until("the hosts to be connected", () => this.racks.every((rack) => hostsOf(rack).every(isLinked)));
  }

  async #addRack(number: number): Promise<Rack> {
    const owner = await this.anAccount(`host${number}@example.com`, 0);
    const stateDir = path.join(this.berth.dataDir, "racks", String(number));
    await mkdir(stateDir, { recursive: true });
    const made = await this.berth.call("POST", "/api/v0/hosts/tokens/", { key: owner.key, body: {} });
    const words = ["--server", this.berth.url, "--token", String(made.body.token), "--state-dir", stateDir];
    const firstPort = PORT_FIRST + number * PORTS_PER_RACK;
    words.push("--port-range", `${firstPort}-${firstPort + PORTS_PER_RACK - 1}`);
    const rack: Omit<Rack, "child"> = { owner, stateDir, words, bootCount: 1 };
    return Object.assign(rack, { child: startAgents(rack) });
  }

  anAccount(email: string, dollars: number): Promise<Account> {
    return makeAccount(this.berth, email, dollars);
  }

  async #priceMachines(): Promise<void> {
    for (const { id, host_id: hostId } of await this.berth.sql("select id, host_id from machines order by id")) {
      const owner = this.racks.find((rack) => rack.owner.id === hostId)?.owner;
      const body = { machine: id, ...PRICES, min_chunk: 1, vol_size: 200 };
      const answer = await this.berth.call("PUT", "/api/v0/machines/create_asks/", { key: owner?.key ?? "", body });
      if (answer.status !== 200) throw new Error(answer.text);
    }
  }

  /** All runs of every engine, and the times in which its host was out of touch. */
  engines(): readonly EngineEvidence[] {
    return this.racks.flatMap((rack) => evidenceOf(rack, systemClock.now().getTime()));
  }

  /** The containers that run in all engines now. */
  running(): readonly RunningContainer[] {
    return this.racks.flatMap((rack) => hostsOf(rack).flatMap((host) => readRunning(engineOf(host))));
  }

  /** How many containers there are in all engines. */
  containerCount(): number {
    return this.racks.flatMap(hostsOf).reduce((sum, host) => sum + countContainers(engineOf(host)), 0);
  }

  /** Kills, restarts what died, and waits until it works again; returns the killed processes in words. `onKilled` is called at the death. */
  async crash(kill: Kill, random: () => number, onKilled: () => void = () => {}): Promise<string> {
    if (kill === "primary" || kill === "primary machine" || kill === "standby machine") {
      return this.#failOver(kill, onKilled);
    }
    onKilled();
    const number = Math.floor(random() * this.racks.length);
    const rack = this.racks[number]!;
    switch (kill) {
      case "server":
        // One of several servers stays away for a moment, in which the others do its work.
        return this.#crashServers(this.#drawServers(random), this.servers.length === 1 ? 0 : DOWN_MAX_MS * random());
      case "absence":
        await this.#crashServers(this.servers, ABSENCE_MS);
        return kill;
      case "server and agents": {
        const doomed = this.#drawServers(random);
        await Promise.all([...doomed.map((server) => killServer(server)), killAgents(rack)]);
        rack.child = startAgents(rack);
        await Promise.all(doomed.map((server) => restartServer(server)));
        return `${this.#namesOf(doomed)} and agents of rack ${number + 1}`;
      }
      case "postmaster":
        await this.#killPostmaster();
        await this.#untilReady();
        return kill;
      case "backend": {
        const name = await this.#killBackend(random);
        await this.#untilReady();
        return `backend (${name})`;
      }
      case "agents":
      case "power":
        await killAgents(rack);
        if (kill === "power") {
          for (const host of hostsOf(rack)) losePower(engineOf(host), systemClock.now());
          rack.bootCount += 1;
        }
        rack.child = startAgents(rack);
        await until("the agents to be connected", () => hostsOf(rack).every(isLinked));
        return `${kill} of rack ${number + 1}`;
    }
  }

  /** Servers to kill: the only one, or mostly one of several, and now and then all at once. */
  #drawServers(random: () => number): readonly Server[] {
    if (this.servers.length === 1 || random() < ALL_AT_ONCE) return this.servers;
    return [this.servers[Math.floor(random() * this.servers.length)]!];
  }

  async #crashServers(doomed: readonly Server[], downMs: number): Promise<string> {
    await Promise.all(doomed.map((server) => killServer(server)));
    await delay(downMs);
    await Promise.all(doomed.map((server) => restartServer(server)));
    return this.#namesOf(doomed);
  }

  #namesOf(doomed: readonly Server[]): string {
    if (this.servers.length === 1) return "server";
    const numbers = doomed.map((server) => this.servers.indexOf(server) + 1);
    return numbers.length === 1 ? `server ${numbers[0]}` : `servers ${numbers.join(" and ")}`;
  }

  /** Kills one of the two PostgreSQL, and returns when there is a primary with a standby again. */
  async #failOver(kill: "primary" | "primary machine" | "standby machine", onKilled: () => void): Promise<string> {
    const patroni = this.#shared?.patroni;
    if (patroni === undefined) throw new Error("this PostgreSQL does not fail over");
    const [primary, standby] = [await patroni.primary(), await patroni.standby()];
    const doomed = kill === "standby machine" ? standby : primary;
    if (doomed === undefined) throw new Error("there is no primary at the moment");
    await patroni.kill(doomed, { withPatroni: kill !== "primary" });
    onKilled();
    if (kill === "primary machine") {
      await until("the standby to take over", async () => (await patroni.primary()) === standby);
    }
    patroni.restart(doomed);
    await patroni.untilWhole();
    await this.#untilReady();
    return `${kill} (${doomed.name})`;
  }

  async #postgresPid(): Promise<number> {
    const shared = this.#shared;
    const [found] = shared === undefined || shared.patroni ? [] : await childrenOf(process.pid, shared.dataDir);
    return found ?? this.berth.postgresPid();
  }

  /** Returns when the server, which lives on, has started PostgreSQL again. */
  async #killPostmaster(): Promise<void> {
    const before = await this.#postgresPid();
    process.kill(before, "SIGKILL");
    const isAgain = async () => (await this.#postgresPid()) !== before;
    await until("PostgreSQL to be started again", isAgain);
  }

  /** Returns when the postmaster has noticed the death, and begun to start all its processes again. */
  async #killBackend(random: () => number): Promise<string> {
    const postmaster = await this.#postgresPid();
    const children = await until("a process of PostgreSQL", async () => {
      const pids = await childrenOf(postmaster);
      return pids.length > 0 && pids;
    });
    const pid = children[Math.floor(random() * children.length)]!;
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "gone");
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process has ended by itself in this moment.
    }
    const isNoticed = async () => !(await childrenOf(postmaster)).includes(pid);
    await until("the postmaster to notice", isNoticed);
    return command
      .replaceAll("\0", " ")
      .trim()
      .replace(/^postgres: /, "");
  }

  async #untilReady(): Promise<void> {
    await Promise.all(this.servers.map(({ berth }) => untilReady(berth)));
  }

  async close(): Promise<void> {
    await Promise.all(this.racks.map((rack) => killAgents(rack)));
    await Promise.all(this.servers.map(({ berth }) => berth.stop()));
    const own = this.#shared?.patroni === undefined ? this.#shared : undefined;
    await own?.postgres.stop();
    const directories = this.servers.map(({ berth }) => berth.dataDir);
    for (const directory of [...directories, own?.dataDir ?? []].flat()) await removeDataDir(directory);
  }
}

/** Makes an account with credit, as an administrator does. */
export async function makeAccount(
  { call, adminKey }: Pick<Berth, "call" | "adminKey">,
  email: string,
  dollars: number,
): Promise<Account> {
  const body = { email, ...(dollars === 0 ? {} : { credit: dollars }) };
  const answer = await call("POST", "/api/v0/admin/users/", { key: adminKey, body });
  if (answer.status !== 200) throw new Error(answer.text);
  const { body: made } = answer;
  return { id: made.id, email, key: made.api_key, keyId: made.key_id };
}

async function openPostgres(): Promise<Shared> {
  const dataDir = await memoryDirectory();
  await copyFreshData(dataDir);
  const postgres = await startEmbeddedPostgres({ dataDir, clock: systemClock, log: createLog("silent") });
  return { dataDir, url: postgres.connectionString, postgres };
}

/** Kills a server, which stays away until it is started again. */
export async function killServer(server: Server): Promise<void> {
  server.isUp = false;
  await server.berth.kill();
}

export async function restartServer(server: Server): Promise<void> {
  server.berth = await startBerth(server.options);
  server.isUp = true;
}

async function untilReady(berth: Berth): Promise<void> {
  let ended: Ended | undefined;
  void berth.ended.then((how) => (ended = how));
  const isReady = async () => ended !== undefined || (await fetch(`${berth.url}/readyz`)).status === 200;
  await until("the server to be ready", isReady);
  if (ended === undefined) return;
  throw new Error(`the server ended by itself: ${JSON.stringify(ended)} ${berth.output().slice(-OUTPUT_TAIL)}`);
}

/** Children of the process, if given only those with this text in their command line; none when it is gone. */
async function childrenOf(pid: number, named = ""): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  const pids = text.split(/\s+/).filter(Boolean).map(Number);
  const lines = await Promise.all(pids.map((each) => readFile(`/proc/${each}/cmdline`, "utf8").catch(() => "")));
  return pids.filter((_, index) => lines[index]?.includes(named));
}

function startAgents({ words, bootCount }: Pick<Rack, "words" | "bootCount">): ChildProcess {
  const counts = ["--simulate", String(HOSTS_PER_RACK), "--simulate-gpus", String(GPUS_PER_HOST)];
  return spawn(process.execPath, ["--disable-warning=ExperimentalWarning", HOSTS_MAIN, ...counts, ...words], {
    stdio: ["pipe", "inherit", "inherit"],
    env: cleanEnvironment({ BERTH_LOG_LEVEL: "error", BERTH_AGENT_BOOT_ID: `boot-${bootCount}` }),
  });
}

async function killAgents(rack: Pick<Rack, "child" | "stateDir">): Promise<void> {
  const { child } = rack;
  if (child.exitCode === null && child.signalCode === null) {
    const closed = once(child, "close");
    child.kill("SIGKILL");
    await closed;
  }
  for (const host of hostsOf(rack)) {
    appendFileSync(linkOf(host), `${JSON.stringify({ at_ms: systemClock.now().getTime(), is_up: false })}\n`);
  }
}
