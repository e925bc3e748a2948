import { randomUUID } from "node:crypto";
import { join, resolve } from "node:path";
import type { CertificateDependencies, Certificates } from "./certificates/certificate.ts";
import { systemClock } from "./base/clock.ts";
import { checkDisks, createDisks } from "./disks/index.ts";
import { isDiskLow } from "./machine/disk-facts.ts";
import { createDockerEngine } from "./docker/engine.ts";
import { readFirst } from "./machine/fingerprint.ts";
import { realGpuAccess } from "./gpu/index.ts";
import { takeInventory } from "./machine/inventory.ts";
import type { Log } from "./base/log.ts";
import type { Membership } from "./link/membership.ts";
import type { NetworkAddress } from "./engine/engine.ts";
import { createNetwork } from "./network/network.ts";
import { openRelay, RELAY_LIMITS, type Relay } from "./network/relay.ts";
import { fileNotes } from "./instances/notes.ts";
import type { Options } from "./options.ts";
import { probePortOn } from "./instances/ports.ts";
import { prepareDocker, realMachine } from "./machine/prepare-docker.ts";
import { registryGate, resolveByHost } from "./images/registries.ts";
import { startHost, type HostInput, type RunningHost } from "./run-host.ts";
import { programRunner } from "./base/programs.ts";
import type { ServerChoice } from "./link/servers.ts";
import { createSshService } from "./ssh/service.ts";
import { createSandbox } from "./tasks/sandbox.ts";
import { prepareToolbox, TOOLBOX_PATH } from "./machine/toolbox.ts";

/** The options with the membership that this agent connects under. */
export type SettledOptions = Omit<Options, keyof Membership> & Membership;
export type UpdatableOptions = SettledOptions & Pick<HostInput, "updates">;

export const PROOF_PROBLEM = "the proof that the server gave cannot be stored: the one before stays in use";

const WRONG_DRIVER =
  "Docker must keep its containers with overlay2, so that their disks hold their size; " +
  'set {"storage-driver": "overlay2", "features": {"containerd-snapshotter": false}} in /etc/docker/daemon.json';

/**
 * Makes a host of this machine: its Docker Engine, its disks, its network, its SSH server. A sentence says why it cannot
 * be one.
 */
export async function startReal(
  options: UpdatableOptions,
  { log, tell }: { readonly log: Log; readonly tell: (line: string) => void },
): Promise<RunningHost | string> {
  const clock = systemClock;
  const { hostKey, bindAddress, dockerSocket } = options;
  const stateDir = resolve(options.stateDir);
  const engine = createDockerEngine({ socketPath: dockerSocket, clock });
  const machine = realMachine({ stateDir, doesAnswer: async () => (await engine.version()).ok });
  const prepared = await prepareDocker({ machine, clock, mayInstall: options.mayInstall, tell });
  if (!prepared.ok) return prepared.problem;
  const problem = await checkDisks({ clock });
  if (problem !== undefined) return problem;
  const storage = await engine.storage();
  if (storage?.driver !== "overlay2") return WRONG_DRIVER;
  const toolbox = await prepareToolbox({ stateDir });
  if (!toolbox.ok) return toolbox.problem;
  const { directory, copiesToClouds } = toolbox.toolbox;
  const servers = options.servers.choose(Math.random);
  const retakeInventory = () => takeInventory({ ...options, hostKey, clock });
  const kernelBootId = readFirst("/proc/sys/kernel/random/boot_id") || randomUUID();
  const certificates = certificateMaker(servers, { ...options, clock, log });
  const onFailure = (text: string) => (cause: unknown) => log.warn({ problem: String(cause) }, text);
  return startHost({
    ...options,
    servers,
    clock,
    random: Math.random,
    log,
    engine,
    disks: createDisks({ stateDir, hostKey, clock, log }),
    network: createNetwork({
      engine,
      run: programRunner(clock),
      hostKey,
      portRange: options.portRange,
      // Behind a local resolver, Docker gives containers the servers that it asks.
      readResolvConf: () => ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"].map(readFirst).join("\n"),
      openRelay: relayOpener(servers, options, log),
    }),
    ssh: createSshService({ dockerSocket, bindAddress, stateDir, clock, random: Math.random, log }),
    commonMounts: [{ source: directory, target: TOOLBOX_PATH, isReadOnly: true }],
    sandbox: createSandbox({ stateDir, toolboxDirectory: directory }),
    copiesToClouds,
    inventory: await retakeInventory(),
    retakeInventory,
    certificateFor: async (instanceId) => (await certificates()).makeCertificate(instanceId),
    renewCertificate: async (instanceId, keyPem) => (await certificates()).renewCertificate(instanceId, keyPem),
    isDiskLow: () => isDiskLow(storage.path),
    measuredFolder: stateDir,
    gpuAccess: realGpuAccess({ stateDir, clock, log }),
    bootId: options.bootId ?? kernelBootId,
    kernelBootId,
    notesStore: fileNotes(join(stateDir, `notes-${hostKey}.json`), onFailure("the notes cannot be written")),
    proofStore: options.proofOf(hostKey, onFailure(PROOF_PROBLEM)),
    isPortFree: probePortOn(bindAddress),
    refuseRegistry: registryGate({ allowed: options.allowedRegistries, resolve: resolveByHost }),
    delayMs: 0,
  });
}

function relayOpener(servers: ServerChoice, { portRange }: SettledOptions, log: Log) {
  const apiUrl = () => servers.urls.apiUrl;
  const isForRenters = (port: number) => port >= portRange.first && port <= portRange.last;
  return async (place: NetworkAddress): Promise<Relay | undefined> => {
    const relay = await openRelay({ apiUrl, place, limits: RELAY_LIMITS, isForRenters, clock: systemClock, log });
    if (!relay) log.warn({ ...place }, "no port is free for the relay, so containers cannot reach the server");
    return relay;
  };
}

/** Most hosts never make a certificate: what it takes is loaded for the first one. */
function certificateMaker(
  servers: ServerChoice,
  { publicIpaddr, clock, log }: Omit<CertificateDependencies, "fetch" | "serverUrl">,
): () => Promise<Certificates> {
  let certificates: Promise<Certificates> | undefined;
  return () =>
    (certificates ??= import("./certificates/certificate.ts").then(
      (loaded) =>
        new loaded.Certificates({
          ...{ publicIpaddr, clock, log, fetch },
          get serverUrl() {
            return servers.urls.socketUrl;
          },
        }),
    ));
}
