// From the call that rents to the SSH banner of a real container, beside `docker run` of the same image; then SSH output
// beside `docker exec`, and what many containers cost their agent.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { order } from "../agent/test/fixtures.ts";
import { RealAgent } from "../agent/test/real-agent.ts";
import { busyboxImage, docker, OPEN_HOST } from "../test/support/hosts/docker.ts";
import { readNumbers } from "./support/arguments.ts";
import { callApi, startBenchServer, type BenchServer } from "./support/berth-server.ts";
import { describeEnvironment } from "./support/environment.ts";
import { median, medianAndRange, quantile, rounded, table } from "./support/figures.ts";
import { childrenOf, commandOf, memoryOf, processorMsWithChildren } from "./support/processes.ts";

const execute = promisify(execFile);
const POLL_MS = 3;
const LIMIT_MS = 900_000;
const MEGABYTE = 1_000_000;
const BULK_ROUNDS = 3;
const HEARTBEAT_MS = 5_000;

type Rental = { readonly id: number; readonly port: number };
type Key = { readonly file: string; readonly text: string };

export async function run(args: readonly string[]): Promise<void> {
  const defaults = { rounds: 30, megabytes: 512, containers: 50, "rest-seconds": 20 };
  const { rounds, megabytes, containers, "rest-seconds": restSeconds } = readNumbers(args, defaults);
  console.log(describeEnvironment(tmpdir()));
  const image = await busyboxImage();
  const folder = await mkdtemp(path.join(tmpdir(), "berth-bench-start-"));
  const server = await startBenchServer({ BERTH_NO_AGENT: "0", ...OPEN_HOST });
  try {
    const key = await makeKey(folder);
    await callApi(server, server.adminKey, { method: "POST", path: "/api/v0/ssh/", body: { ssh_key: key.text } });
    await until("an offer of this machine", () => findOffer(server));
    await measureStarts(server, image, rounds);
    await measureOutput(server, image, key, megabytes);
    await audit(server);
    await measureMany(image, containers, restSeconds * 1000);
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Measures both kinds of start in turns, so that both meet the same noise. */
async function measureStarts(server: BenchServer, image: string, rounds: number): Promise<void> {
  const [berth, engine]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const control = performance.now();
    const id = await docker("run", "-d", image);
    engine.push(performance.now() - control);
    await docker("rm", "-f", id);
    const offer = await until("an offer", () => findOffer(server));
    const begin = performance.now();
    const rental = await rent(server, offer, image);
    await until("the SSH banner", () => readBanner(rental.port));
    berth.push(performance.now() - begin);
    await destroy(server, rental.id);
  }
  const row = (name: string, ms: readonly number[]) => [
    name,
    rounded(median(ms)),
    rounded(quantile(ms, 0.9)),
    `${rounded(Math.min(...ms))}–${rounded(Math.max(...ms))}`,
  ];
  console.log(`\nTime to start, milliseconds, ${rounds} rounds in turns, image on the host:\n`);
  console.log(
    table([
      ["", "p50", "p90", "range"],
      row("PUT /asks/ID/ to SSH banner", berth),
      row("docker run -d (control)", engine),
      ["ratio of medians", rounded(median(berth) / median(engine), 2), "", ""],
    ]),
  );
}

async function measureOutput(server: BenchServer, image: string, key: Key, megabytes: number): Promise<void> {
  const rental = await rent(server, await until("an offer", () => findOffer(server)), image);
  await until("the SSH banner", () => readBanner(rental.port));
  const read = `head -c ${megabytes * MEGABYTE} /dev/zero`;
  const container = await containerOf(server, rental.id);
  const options = ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR"];
  const login = ["-i", key.file, "-p", String(rental.port), ...options, "root@127.0.0.1"];
  const [ssh, exec]: [number[], number[]] = [[], []];
  for (let round = 0; round < BULK_ROUNDS; round += 1) {
    ssh.push(await throughput("ssh", [...login, read], megabytes));
    exec.push(await throughput("docker", ["exec", container, "sh", "-c", read], megabytes));
  }
  console.log(`\nOutput of ${megabytes} MB, MB/s, median (range) of ${BULK_ROUNDS}:\n`);
  console.log(
    table([
      ["", "MB/s"],
      ["ssh", medianAndRange(ssh)],
      ["docker exec (control)", medianAndRange(exec)],
      ["ratio of medians", rounded(median(ssh) / median(exec), 2)],
    ]),
  );
  await destroy(server, rental.id);
}

async function throughput(program: string, args: readonly string[], megabytes: number): Promise<number> {
  const begin = performance.now();
  const child = spawn(program, [...args], { stdio: ["ignore", "pipe", "inherit"] });
  let bytes = 0;
  child.stdout.on("data", (data: Buffer) => {
    bytes += data.length;
  });
  await once(child, "close");
  if (bytes !== megabytes * MEGABYTE) throw new Error(`${program} gave ${bytes} bytes instead of ${megabytes} MB`);
  return megabytes / ((performance.now() - begin) / 1000);
}

/** The cost of one agent with many containers. No server takes part: the market would sell so large a machine to few. */
async function measureMany(image: string, count: number, restMs: number): Promise<void> {
  const agent = await RealAgent.start("bench-start", ["--port-range", "26000-26999"]);
  try {
    const orders = (run: "running" | "absent") =>
      Array.from({ length: count }, (_, index) => order(index + 1, { image, run, ssh: { authorizedKeys: [] } }));
    agent.server.heartbeatMs = HEARTBEAT_MS;
    agent.server.desire([]);
    await until("the agent", async () => (agent.server.peers.length > 0 ? true : undefined));
    await delay(HEARTBEAT_MS);
    const idle = memoryOf(agent.pid).residentBytes / MEGABYTE;
    const begin = performance.now();
    agent.server.desire(orders("running"));
    await untilAll(agent, count, "running");
    const startedMs = performance.now() - begin;
    const processorBefore = processorMsWithChildren(agent.pid);
    await delay(restMs);
    const processor = (processorMsWithChildren(agent.pid) - processorBefore) / restMs;
    const all = [agent.pid, ...descendantsOf(agent.pid)];
    const sum = (isSsh: boolean) =>
      all
        .filter((pid) => commandOf(pid).includes("/ssh/main.ts") === isSsh)
        .reduce((total, pid) => total + memoryOf(pid).residentBytes, 0) / MEGABYTE;
    agent.server.desire(orders("absent"));
    await untilAll(agent, count, "absent");
    console.log(`\nOne agent, ${count} containers:\n`);
    console.log(
      table([
        ["", ""],
        ["agent idle, MB resident", rounded(idle)],
        [`agent with ${count}, MB resident`, rounded(sum(false))],
        [`its SSH process with ${count} doors, MB resident`, rounded(sum(true))],
        ["all started after, s", rounded(startedMs / 1000, 1)],
        [`processor at rest, % of a core, over ${restMs / 1000} s`, rounded(processor * 100, 1)],
      ]),
    );
  } finally {
    await agent.close();
  }
}

async function untilAll(agent: RealAgent, count: number, state: string): Promise<void> {
  const ids = Array.from({ length: count }, (_, index) => index + 1);
  await until(`${count} instances ${state}`, async () =>
    ids.every((id) => agent.server.observed(id)?.state === state) ? true : undefined,
  );
}

function descendantsOf(pid: number): readonly number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

async function makeKey(folder: string): Promise<Key> {
  const file = path.join(folder, "key");
  await execute("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", file]);
  return { file, text: (await readFile(`${file}.pub`, "utf8")).trim() };
}

async function findOffer(server: BenchServer): Promise<number | undefined> {
  const body = { num_gpus: { eq: 0 }, rentable: { eq: true }, order: [["dph_total", "asc"]] };
  const found = await callApi(server, server.adminKey, { method: "POST", path: "/api/v0/bundles/", body });
  const [offer] = found["offers"] as { readonly id: number }[];
  return offer?.id;
}

async function rent(server: BenchServer, offer: number, image: string): Promise<Rental> {
  const call = { method: "PUT", path: `/api/v0/asks/${offer}/`, body: { image, disk: 8, runtype: "ssh_direct" } };
  const id = Number((await callApi(server, server.adminKey, call))["new_contract"]);
  const port = await until("a mapped port", async () => {
    const { instances } = await callApi(server, server.adminKey, { method: "GET", path: `/api/v0/instances/${id}/` });
    const { ports } = instances as { readonly ports?: Record<string, { readonly HostPort: string }[]> };
    return Number(ports?.["22/tcp"]?.[0]?.HostPort) || undefined;
  });
  return { id, port };
}

async function destroy(server: BenchServer, id: number): Promise<void> {
  await callApi(server, server.adminKey, { method: "DELETE", path: `/api/v0/instances/${id}/` });
  await until("the end of the container", async () => {
    return (await containerOf(server, id)) === "" ? true : undefined;
  });
}

/** The id of the instance's container; empty when there is none. Other agents' containers may have the same number. */
async function containerOf(server: BenchServer, id: number): Promise<string> {
  const { rows } = await server.database.pool.query<{ host_key: string }>("select host_key from machines");
  const labels = [`berth.host_key=${rows[0]?.host_key}`, `berth.instance_id=${id}`];
  return docker("ps", "-aq", ...labels.flatMap((label) => ["--filter", `label=${label}`]));
}

/** The first words of an SSH server; undefined while none answers. */
function readBanner(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const end = (answer: string | undefined) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("data", (data) => end(data.toString().startsWith("SSH-2.0-") ? data.toString() : undefined));
    socket.once("error", () => end(undefined));
    socket.once("close", () => end(undefined));
  });
}

/** Checks that all rentals are gone: a figure of rentals that leak is void. */
async function audit(server: BenchServer): Promise<void> {
  await until("the end of every lease (audit)", async () => {
    const { rows } = await server.database.pool.query<{ open: number }>(
      "select count(*)::int as open from leases where released_at is null",
    );
    return rows[0]?.open === 0 ? true : undefined;
  });
  console.log("\nAudit: every rental is gone, no lease is live.");
}

async function until<T>(what: string, probe: () => Promise<T | undefined>): Promise<T> {
  const end = performance.now() + LIMIT_MS;
  for (;;) {
    const answer = await probe();
    if (answer !== undefined) return answer;
    if (performance.now() > end) throw new Error(`waited in vain for ${what}`);
    await delay(POLL_MS);
  }
}
