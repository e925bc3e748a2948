import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { systemClock } from "./clock.ts";
import { createDockerEngine } from "./docker/engine.ts";
import { takeInventory } from "./inventory.ts";
import { createLog } from "./log.ts";
import { fileNotes, forgetfulNotes } from "./notes.ts";
import { parseOptions, USAGE, type Options } from "./options.ts";
import { probePortOn } from "./ports.ts";
import { prepareDocker, realMachine } from "./prepare-docker.ts";
import { startHost, type RunningHost } from "./run-host.ts";
import { createSimulatedEngine } from "./simulated/engine.ts";
import { inventMachine } from "./simulated/machine.ts";

const EXIT_USAGE = 2;
const EXIT_NO_ENGINE = 3;
/** Between the first connections of simulated hosts: a thousand do not knock at once. */
const SIMULATED_SPREAD_MS = 2;

function readFirst(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    // Not every system has the file; the caller has something else to go by.
    return "";
  }
}

/** The same for one machine and one state folder; two folders on one machine are two hosts, never each other's. */
function defaultHostKey(options: Options): string {
  const machine = readFirst("/etc/machine-id") || hostname();
  const digest = createHash("sha256")
    .update(`${machine}\n${resolve(options.state_dir)}`)
    .digest("hex");
  return `${options.simulate > 0 ? "simulated" : "machine"}-${digest.slice(0, 16)}`;
}

async function startReal(options: Options, log: ReturnType<typeof createLog>): Promise<RunningHost[]> {
  const engine = createDockerEngine({ socket_path: options.docker_socket, clock: systemClock });
  const tell = (line: string) => process.stdout.write(`${line}\n`);
  const doesAnswer = async () => (await engine.version()).ok;
  const machine = realMachine({ state_dir: options.state_dir, doesAnswer });
  const prepared = await prepareDocker({ machine, clock: systemClock, may_install: options.may_install, tell });
  if (!prepared.ok) {
    tell(prepared.problem);
    process.exit(EXIT_NO_ENGINE);
  }
  const host_key = options.host_key ?? defaultHostKey(options);
  const docker_root = (await engine.storagePath()) ?? "/var/lib/docker";
  const { machine: facts, gpus } = await takeInventory({ ...options, host_key, docker_root });
  const own = log.child({ host_key });
  const path = join(options.state_dir, `notes-${host_key}.json`);
  const notes_store = fileNotes(path, (cause) => own.warn({ problem: String(cause) }, "the notes cannot be written"));
  const host = startHost({
    ...options,
    clock: systemClock,
    random: Math.random,
    log: own,
    host_key,
    engine,
    machine: facts,
    gpus,
    real_gpu_uuids: new Set(gpus.filter((gpu) => !gpu.is_declared).map((gpu) => gpu.uuid)),
    boot_id: readFirst("/proc/sys/kernel/random/boot_id") || randomUUID(),
    notes_store,
    isPortFree: probePortOn(options.bind_address),
    delay_ms: 0,
  });
  return [host];
}

function startSimulated(options: Options, log: ReturnType<typeof createLog>): RunningHost[] {
  const base = options.host_key ?? defaultHostKey(options);
  const boot_id = randomUUID();
  return Array.from({ length: options.simulate }, (_, index) => {
    const host_key = `${base}-${index + 1}`;
    const invented = {
      host_key,
      number: index + 1,
      public_ipaddr: options.public_ipaddr,
      port_range: options.port_range,
    };
    const { machine, gpus } = inventMachine(invented);
    return startHost({
      ...options,
      clock: systemClock,
      random: Math.random,
      log,
      host_key,
      engine: createSimulatedEngine({ clock: systemClock, random: Math.random }),
      machine,
      gpus,
      real_gpu_uuids: new Set(),
      boot_id,
      notes_store: forgetfulNotes,
      isPortFree: () => Promise.resolve(true),
      delay_ms: index * SIMULATED_SPREAD_MS,
    });
  });
}

async function main(): Promise<void> {
  if (process.argv.includes("--help")) {
    process.stdout.write(`${USAGE}\n`);
    return;
  }
  const parsed = parseOptions(process.argv.slice(2), process.env);
  if (!parsed.ok) {
    process.stderr.write(`${parsed.problem}\n${USAGE}\n`);
    process.exitCode = EXIT_USAGE;
    return;
  }
  const { options } = parsed;
  const log = createLog(options.log_level);
  const hosts = options.simulate > 0 ? startSimulated(options, log) : await startReal(options, log);
  log.info({ hosts: hosts.length, server: new URL(options.server_url).host }, "agent runs");
  let isStopping = false;
  const stop = (signal: string) => {
    if (isStopping) return;
    isStopping = true;
    log.info({ signal }, "agent stops, containers keep running");
    for (const host of hosts) host.close();
    // Time for the closing frames to leave; the process then ends whatever is still open.
    void systemClock.sleep(100).then(() => process.exit(0));
  };
  process.on("SIGTERM", () => stop("SIGTERM"));
  process.on("SIGINT", () => stop("SIGINT"));
}

await main();
