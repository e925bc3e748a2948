import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { becomeRoot, runSilently } from "./machine/become-root.ts";
import { systemClock } from "./base/clock.ts";
import { simulatedDisks } from "./disks/index.ts";
import { noGpuAccess } from "./gpu/index.ts";
import { createLog, type Log } from "./base/log.ts";
import { findMembership } from "./link/membership.ts";
import { noNetwork } from "./network/network.ts";
import { bindAddressFor, ownAddress } from "./machine/network-facts.ts";
import { forgetfulNotes } from "./instances/notes.ts";
import { parseOptions, USAGE } from "./options.ts";
import { PROOF_PROBLEM, startReal, type UpdatableOptions } from "./real-host.ts";
import { noRegistries } from "./images/registries.ts";
import { trustServers } from "./link/server-trust.ts";
import { startHost, type RunningHost } from "./run-host.ts";
import { launchAgent, updatesOf, wantsLauncher } from "./update/agent-updates.ts";
import { createSimulatedEngine } from "./simulated/engine.ts";
import { inventMachine } from "./simulated/machine.ts";

/** An agent that cannot finish in time is not waited for: the next one finds everything as it is. */
const STOP_LIMIT_MS = 8_000;
const EXIT_USAGE = 2;
/** This machine cannot be a host. */
const EXIT_NO_ENGINE = 3;
const EXIT_NOT_JOINED = 4;
/** Between the first connections of simulated hosts: a server lets in about so many a second. */
const SIMULATED_SPREAD_MS = 1;

const tell = (line: string): void => void process.stdout.write(`${line}\n`);

function startSimulated(options: UpdatableOptions, log: Log): RunningHost[] {
  const base = options.hostKey;
  const bootId = randomUUID();
  return Array.from({ length: options.simulate }, (_, index) => {
    const hostKey = `${base}-${index + 1}`;
    const invented = {
      hostKey,
      number: index + 1,
      publicIpaddr: options.publicIpaddr,
      portRange: options.portRange,
      gpuCount: options.simulateGpus || undefined,
    };
    return startHost({
      ...options,
      clock: systemClock,
      random: Math.random,
      log,
      hostKey,
      servers: options.servers.choose(Math.random),
      engine: createSimulatedEngine({ clock: systemClock, random: Math.random }),
      disks: simulatedDisks(),
      network: noNetwork,
      ssh: undefined,
      commonMounts: [],
      sandbox: undefined,
      inventory: inventMachine(invented),
      gpuAccess: noGpuAccess,
      isDiskLow: () => Promise.resolve(false),
      bootId,
      notesStore: forgetfulNotes,
      proofStore: options.proofOf(hostKey, (cause) => log.warn({ problem: String(cause) }, PROOF_PROBLEM)),
      isPortFree: () => Promise.resolve(true),
      refuseRegistry: noRegistries,
      delayMs: index * SIMULATED_SPREAD_MS,
    });
  });
}

async function startRealOrEnd(options: UpdatableOptions, log: Log): Promise<RunningHost> {
  const started = await startReal(options, { log, tell });
  if (typeof started !== "string") return started;
  tell(started);
  process.exit(EXIT_NO_ENGINE);
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
  if (parsed.options.simulate === 0) await goOnAsRoot();
  if (wantsLauncher(parsed.options)) return launchAgent(parsed.options);
  const { caFile } = parsed.options;
  const distrust = trustServers(caFile, process.env);
  if (distrust !== undefined) {
    process.stderr.write(`${distrust}\n`);
    process.exitCode = EXIT_USAGE;
    return;
  }
  // The SSH process opens tunnels to servers itself, and reads the file from its environment.
  if (caFile !== undefined) process.env["BERTH_AGENT_CA_FILE"] = resolve(caFile);
  const found = await findMembership({ options: parsed.options, clock: systemClock, tell });
  if (!found.ok) {
    process.stderr.write(`${found.problem}\n`);
    process.exitCode = EXIT_NOT_JOINED;
    return;
  }
  if (parsed.options.isJoinOnly) return;
  const given = { ...parsed.options, ...found.membership };
  const publicIpaddr = given.publicIpaddr || (await ownAddress(given.servers.home.socketUrl));
  const options = { ...given, publicIpaddr, bindAddress: given.bindAddress || bindAddressFor(publicIpaddr) };
  const log = createLog(options.logLevel);
  let renew = (): void => {};
  const updates = updatesOf(options, { log, onRefused: () => renew() });
  const settled = { ...options, updates };
  const hosts = options.simulate > 0 ? startSimulated(settled, log) : [await startRealOrEnd(settled, log)];
  renew = () => hosts.forEach(({ session }) => session.renew());
  log.info({ hosts: hosts.length, server: new URL(options.servers.home.apiUrl).host }, "the agent runs");
  let isStopping = false;
  const stop = (signal: string) => {
    if (isStopping) return;
    isStopping = true;
    log.info({ signal }, "the agent stops, containers keep running");
    // Time for the closing frames to leave; the end of the process closes all that is still open.
    const closed = Promise.all([systemClock.sleep(100), ...hosts.map((host) => host.close())]);
    void Promise.race([closed, systemClock.sleep(STOP_LIMIT_MS)]).then(() => process.exit(0));
  };
  process.on("SIGTERM", () => stop("SIGTERM"));
  process.on("SIGINT", () => stop("SIGINT"));
  if (process.env["BERTH_AGENT_ENDS_WITH_STDIN"] === "1") {
    // A server's own agent ends with it, however that ends, and also where root's processes take no signals from it.
    process.stdin.on("error", () => undefined).on("close", () => stop("the end of the server"));
    process.stdin.resume();
  }
}

/** Becomes root through sudo, in place of this process, where that takes no password; ends it where it cannot be root. */
async function goOnAsRoot(): Promise<void> {
  const argv = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const ascent = await becomeRoot({ isRoot: process.getuid?.() === 0, env: process.env, argv, run: runSilently });
  if (ascent.kind === "root") return;
  if (ascent.kind === "through" && process.execve !== undefined) {
    // The program is looked for where PATH says, as a shell does.
    process.execve("/usr/bin/env", ["env", ascent.program, ...ascent.args], process.env);
  }
  tell(ascent.kind === "through" ? "this runtime cannot become root: start the agent as root" : ascent.problem);
  process.exit(EXIT_NO_ENGINE);
}

await main();
