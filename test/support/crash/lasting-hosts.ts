// The agents of some simulated hosts, as a process of its own that may be killed while their containers run on. It takes
// the options of `berth agent --simulate`, and differs from it in nothing but the engine and in keeping notes.
import { appendFileSync } from "node:fs";
import path from "node:path";
import { systemClock } from "../../../agent/src/base/clock.ts";
import { simulatedDisks } from "../../../agent/src/disks/index.ts";
import { noGpuAccess } from "../../../agent/src/gpu/index.ts";
import { createLog, type Log } from "../../../agent/src/base/log.ts";
import { findMembership } from "../../../agent/src/link/membership.ts";
import { noNetwork } from "../../../agent/src/network/network.ts";
import { fileNotes, type NotesStore } from "../../../agent/src/instances/notes.ts";
import { parseOptions } from "../../../agent/src/options.ts";
import { noRegistries } from "../../../agent/src/images/registries.ts";
import { startHost } from "../../../agent/src/run-host.ts";
import { inventMachine } from "../../../agent/src/simulated/machine.ts";
import { createLastingEngine, PULSE_MS } from "./lasting-engine.ts";
import { noteReports } from "../hosts/report-notes.ts";

const [STOP_LIMIT_MS, ADDRESS] = [3_000, "127.0.0.1"];

const parsed = parseOptions(process.argv.slice(2), process.env);
if (!parsed.ok) throw new Error(parsed.problem);
const { options } = parsed;
const log = createLog(options.logLevel);
const found = await findMembership({ options, clock: systemClock, tell: () => undefined });
if (!found.ok) throw new Error(found.problem);
const { membership } = found;
const bootId = options.bootId ?? "boot-1";
const onFailure = (cause: unknown) => log.warn({ problem: String(cause) }, "not stored");

/** Notes in a file when the host was in touch with its server, as the agent itself saw it. */
function withLinkNotes(log: Log, file: string): Log {
  const note = (isUp: boolean) =>
    appendFileSync(file, `${JSON.stringify({ at_ms: systemClock.now().getTime(), is_up: isUp })}\n`);
  return {
    ...{ debug: (fields, message) => log.debug(fields, message), warn: (fields, message) => log.warn(fields, message) },
    info(fields, message) {
      if (message === "connected") note(true);
      if (message.startsWith("disconnected")) note(false);
      log.info(fields, message);
    },
  };
}

/**
 * Notes in another file each proof that the server was there, as the agent counts its lease: when it was sent, and when
 * its answer was noted. The first proof is left out, since an earlier agent may have noted it.
 */
function withProofNotes(store: NotesStore, file: string): NotesStore {
  let lastMs: number | undefined;
  return {
    load: () => store.load(),
    save(notes) {
      store.save(notes);
      const sentMs = notes.lease.grantedAtMs;
      const notedAtMs = systemClock.now().getTime();
      const sentAtMs = notedAtMs - (systemClock.monotonicMs() - sentMs);
      if (lastMs !== undefined && sentMs > lastMs)
        appendFileSync(file, `${JSON.stringify({ sent_at_ms: sentAtMs, noted_at_ms: notedAtMs })}\n`);
      lastMs = sentMs;
    },
  };
}

/** All hosts have one address: each gets ports that no other has. */
function portsOf(index: number): typeof options.portRange {
  const { first, last } = options.portRange;
  const count = Math.floor((last - first + 1) / options.simulate);
  return { first: first + index * count, last: first + (index + 1) * count - 1 };
}

/** The keys of hosts end in their numbers, and so do the names of their files. */
noteReports((hostKey) => {
  const number = hostKey.slice(hostKey.lastIndexOf("-") + 1);
  const fileOf = (name: string) => path.join(options.stateDir, `${name}-${number}.jsonl`);
  return { sends: fileOf("sends"), answers: fileOf("answers") };
});

const hosts = await Promise.all(
  Array.from({ length: options.simulate }, async (_, index) => {
    const hostKey = `${membership.hostKey}-${index + 1}`;
    const file = path.join(options.stateDir, `engine-${index + 1}.json`);
    return startHost({
      ...options,
      ...membership,
      servers: membership.servers.choose(Math.random),
      portRange: portsOf(index),
      hostKey,
      clock: systemClock,
      random: Math.random,
      log: withLinkNotes(log, path.join(options.stateDir, `link-${index + 1}.jsonl`)),
      engine: await createLastingEngine({ clock: systemClock, random: Math.random, file, bootId }),
      disks: simulatedDisks(),
      network: noNetwork,
      ssh: undefined,
      commonMounts: [],
      sandbox: undefined,
      inventory: inventMachine({
        ...{ hostKey, number: index + 1, publicIpaddr: ADDRESS, portRange: portsOf(index) },
        gpuCount: options.simulateGpus || undefined,
      }),
      gpuAccess: noGpuAccess,
      isDiskLow: () => Promise.resolve(false),
      bootId,
      publicIpaddr: ADDRESS,
      bindAddress: ADDRESS,
      notesStore: withProofNotes(
        fileNotes(path.join(options.stateDir, `notes-${index + 1}.json`), onFailure),
        path.join(options.stateDir, `proofs-${index + 1}.jsonl`),
      ),
      proofStore: membership.proofOf(hostKey, onFailure),
      isPortFree: () => Promise.resolve(true),
      refuseRegistry: noRegistries,
      delayMs: 0,
    });
  }),
);

systemClock.every(PULSE_MS, () =>
  appendFileSync(path.join(options.stateDir, "pulses.jsonl"), `${systemClock.now().getTime()}\n`),
);

let isStopping = false;
const stop = () => {
  if (isStopping) return;
  isStopping = true;
  const closed = Promise.all([systemClock.sleep(100), ...hosts.map((host) => host.close())]);
  void Promise.race([closed, systemClock.sleep(STOP_LIMIT_MS)]).then(() => process.exit(0));
};
process.on("SIGTERM", stop);
// The process that started this one holds the other end of stdin, so that this one ends with a test that was killed.
process.stdin.on("error", () => undefined).on("close", stop);
process.stdin.resume();
