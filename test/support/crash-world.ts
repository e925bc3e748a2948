// A server, its PostgreSQL and the agents of a few racks of simulated hosts, each a process of its own, to be killed and
// brought back as their supervisors would.
import { spawn, type ChildProcess } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { once } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "../../server/src/base/clock.ts";
import { cleanEnvironment, NO_LIMITS, removeDataDir, startBerth, type Berth, type Ended } from "./berth.ts";
import {
  countContainers,
  losePower,
  readEngineRuns,
  readRunning,
  type EngineRun,
  type RunningContainer,
} from "./lasting-engine.ts";
import { until } from "./until.ts";

const HOSTS_MAIN = path.join(import.meta.dirname, "lasting-hosts.ts");
const [RACKS, HOSTS_PER_RACK, GPUS_PER_HOST] = [3, 2, 4];
/** Programs of workers listen there, outside of what the system gives to others by itself. */
const [PORT_FIRST, PORTS_PER_RACK] = [22_000, 200];
/** Short, so that an absence of a minute is a lost host, and longer than any start of a server on a busy machine. */
export const LEASE_MS = 40_000;
/** So long that every container has stopped by itself. */
const ABSENCE_MS = LEASE_MS + 12_000;
/** Within this the postmaster has noticed that one of its processes was killed, and begun to start all anew. */
const NOTICED_MS = 200;
const READY_LIMIT_MS = 90_000;
const OUTPUT_TAIL = 4_000;
const SETTINGS = {
  ...NO_LIMITS,
  BERTH_LEASE_SECONDS: String(LEASE_MS / 1000),
  BERTH_NOTICE_SECONDS: "1",
  BERTH_MIN_SLICE_SECONDS: "1",
  BERTH_LOG_LEVEL: "error",
};
/** Dollars. High, so that each second is some cents. */
const PRICES = { price_gpu: 30, price_min_bid: 6, price_disk: 50, price_inetu: 0.5, price_inetd: 0.25, vol_price: 80 };

export const KILLS = ["server", "postmaster", "backend", "agents", "server and agents", "power", "absence"] as const;
export type Kill = (typeof KILLS)[number];

export type Account = { readonly id: number; readonly email: string; readonly key: string; readonly keyId: number };
/** While an agent was dead, or had no connection. */
export type Outage = { readonly fromMs: number; readonly toMs: number };
/** What one host can say of itself, without the server. */
export type EngineEvidence = { readonly runs: readonly EngineRun[]; readonly outages: readonly Outage[] };

type Rack = {
  readonly owner: Account;
  readonly stateDir: string;
  readonly words: readonly string[];
  child: ChildProcess;
  bootCount: number;
};

export class CrashWorld {
  berth: Berth;
  readonly racks: readonly Rack[];
  private readonly port: number;

  private constructor(berth: Berth, racks: readonly Rack[]) {
    this.berth = berth;
    this.racks = racks;
    this.port = Number(new URL(berth.url).port);
  }

  static async open(): Promise<CrashWorld> {
    const berth = await startBerth({ args: ["--no-agent"], env: SETTINGS });
    const racks: Rack[] = [];
    const world = new CrashWorld(berth, racks);
    try {
      for (let number = 1; number <= RACKS; number += 1) racks.push(await world.addRack(number));
      await until("the hosts to be connected", () => racks.every((rack) => hostsOf(rack).every(isLinked)));
      await world.priceMachines();
      return world;
    } catch (error) {
      await world.close();
      throw error;
    }
  }

  private async addRack(number: number): Promise<Rack> {
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

  async anAccount(email: string, dollars: number): Promise<Account> {
    const body = { email, ...(dollars === 0 ? {} : { credit: dollars }) };
    const answer = await this.berth.call("POST", "/api/v0/admin/users/", { key: this.berth.adminKey, body });
    if (answer.status !== 200) throw new Error(answer.text);
    const { body: made } = answer;
    return { id: made.id, email, key: made.api_key, keyId: made.key_id };
  }

  private async priceMachines(): Promise<void> {
    for (const { id, host_id: hostId } of await this.berth.sql("select id, host_id from machines order by id")) {
      const owner = this.racks.find((rack) => rack.owner.id === hostId)?.owner;
      const body = { machine: id, ...PRICES, min_chunk: 1, vol_size: 200 };
      const answer = await this.berth.call("PUT", "/api/v0/machines/create_asks/", { key: owner?.key ?? "", body });
      if (answer.status !== 200) throw new Error(answer.text);
    }
  }

  /** What every engine has run, and when its host was out of touch. */
  engines(): readonly EngineEvidence[] {
    return this.racks.flatMap((rack) =>
      hostsOf(rack).map((host) => ({ runs: readEngineRuns(engineOf(host)), outages: outagesOf(readLink(host)) })),
    );
  }

  /** What runs in all engines now. */
  running(): readonly RunningContainer[] {
    return this.racks.flatMap((rack) => hostsOf(rack).flatMap((host) => readRunning(engineOf(host))));
  }

  /** How many containers there are in all engines. */
  containerCount(): number {
    return this.racks.flatMap(hostsOf).reduce((sum, host) => sum + countContainers(engineOf(host)), 0);
  }

  /** Kills, restarts what died, and waits until it works again; says what exactly was killed. */
  async crash(kill: Kill, random: () => number): Promise<string> {
    const number = Math.floor(random() * this.racks.length);
    const rack = this.racks[number]!;
    switch (kill) {
      case "server":
      case "absence":
        await this.berth.kill();
        if (kill === "absence") await delay(ABSENCE_MS);
        await this.restartServer();
        return kill;
      case "server and agents":
        await Promise.all([this.berth.kill(), killAgents(rack)]);
        rack.child = startAgents(rack);
        await this.restartServer();
        return `server and agents of rack ${number + 1}`;
      case "postmaster":
        process.kill(await this.berth.postgresPid(), "SIGKILL");
        await this.berth.ended;
        await this.restartServer();
        return kill;
      case "backend": {
        const name = await this.killBackend(random);
        await delay(NOTICED_MS);
        await this.untilReady();
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
        await until("the agents to be connected", () => hostsOf(rack).every(isLinked), READY_LIMIT_MS);
        return `${kill} of rack ${number + 1}`;
    }
  }

  private async restartServer(): Promise<void> {
    const { dataDir } = this.berth;
    this.berth = await startBerth({ dataDir, port: this.port, args: ["--no-agent"], env: SETTINGS });
  }

  private async killBackend(random: () => number): Promise<string> {
    const postmaster = await this.berth.postgresPid();
    const children = (await readFile(`/proc/${postmaster}/task/${postmaster}/children`, "utf8")).trim().split(" ");
    const pid = Number(children[Math.floor(random() * children.length)]);
    const command = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "gone");
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself in this very moment.
    }
    return command
      .replaceAll("\0", " ")
      .trim()
      .replace(/^postgres: /, "");
  }

  private async untilReady(): Promise<void> {
    const { berth } = this;
    let ended: Ended | undefined;
    void berth.ended.then((how) => (ended = how));
    const isReady = async () => ended !== undefined || (await fetch(`${berth.url}/readyz`)).status === 200;
    await until("the server to be ready", isReady, READY_LIMIT_MS);
    if (ended === undefined) return;
    throw new Error(`the server ended by itself: ${JSON.stringify(ended)} ${berth.output().slice(-OUTPUT_TAIL)}`);
  }

  async close(): Promise<void> {
    await Promise.all(this.racks.map((rack) => killAgents(rack)));
    await this.berth.stop();
    await removeDataDir(this.berth.dataDir);
  }
}

/** The file names of one host, up to their ending. */
type Host = { readonly stateDir: string; readonly number: number };
type Link = { readonly at_ms: number; readonly is_up: boolean };

function hostsOf({ stateDir }: Pick<Rack, "stateDir">): readonly Host[] {
  return Array.from({ length: HOSTS_PER_RACK }, (_, index) => ({ stateDir, number: index + 1 }));
}

function engineOf({ stateDir, number }: Host): string {
  return path.join(stateDir, `engine-${number}.json`);
}

function linkOf({ stateDir, number }: Host): string {
  return path.join(stateDir, `link-${number}.jsonl`);
}

function readLink(host: Host): readonly Link[] {
  if (!existsSync(linkOf(host))) return [];
  const lines = readFileSync(linkOf(host), "utf8").split("\n").filter(Boolean);
  return lines.map((line): Link => JSON.parse(line));
}

function isLinked(host: Host): boolean {
  return readLink(host).at(-1)?.is_up === true;
}

function outagesOf(link: readonly Link[]): readonly Outage[] {
  const outages: Outage[] = [];
  let fromMs: number | undefined;
  for (const { at_ms, is_up } of link) {
    if (!is_up) fromMs ??= at_ms;
    else if (fromMs !== undefined) {
      outages.push({ fromMs, toMs: at_ms });
      fromMs = undefined;
    }
  }
  return outages;
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
