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
import { startHost, type RunningHost } from "./run-host.ts";
import { programRunner } from "./base/programs.ts";
import type { ServerChoice } from "./link/servers.ts";
import { createSshService } from "./ssh/service.ts";
import { createSandbox } from "./tasks/sandbox.ts";
import { prepareToolbox, TOOLBOX_PATH } from "./machine/toolbox.ts";

/** What was asked for, and as whom this agent connects. */
export type SettledOptions = Omit<Options, keyof Membership> & Membership;

export const PROOF_PROBLEM = "the proof that the server gave cannot be stored: the one before stays in use";

const WRONG_DRIVER =
  "Docker must keep its containers with overlay2, so that their disks hold their size; " +
  'set {"storage-driver": "overlay2", "features": {"containerd-snapshotter": false}} in /etc/docker/daemon.json';

/**
 * Makes a host of this machine: its Docker Engine, its disks, its network, its SSH server. A sentence says why it cannot
 * be one.
 */
export async function startReal(
  options: SettledOptions,
  { log, tell }: { readonly log: Log; readonly tell: (line: string) => void },
): Promise<RunningHost | string> {
  const clock = systemClock;
  const { host_key, bind_address, docker_socket } = options;
  const state_dir = resolve(options.state_dir);
  const engine = createDockerEngine({ socket_path: docker_socket, clock });
  const machine = realMachine({ state_dir, doesAnswer: async () => (await engine.version()).ok });
  const prepared = await prepareDocker({ machine, clock, may_install: options.may_install, tell });
  if (!prepared.ok) return prepared.problem;
  const problem = await checkDisks({ clock });
  if (problem !== undefined) return problem;
  const storage = await engine.storage();
  if (storage?.driver !== "overlay2") return WRONG_DRIVER;
  const toolbox = await prepareToolbox({ state_dir });
  if (!toolbox.ok) return toolbox.problem;
  const { directory } = toolbox.toolbox;
  const servers = options.servers.choose(Math.random);
  const retakeInventory = () => takeInventory({ ...options, host_key, clock });
  const kernel_boot_id = readFirst("/proc/sys/kernel/random/boot_id") || randomUUID();
  const certificates = certificateMaker(servers, { ...options, clock, log });
  const onFailure = (text: string) => (cause: unknown) => log.warn({ problem: String(cause) }, text);
  return startHost({
    ...options,
    servers,
    clock,
    random: Math.random,
    log,
    engine,
    disks: createDisks({ state_dir, host_key, clock, log }),
    network: createNetwork({
      engine,
      run: programRunner(clock),
      host_key,
      port_range: options.port_range,
      // Behind a local resolver, Docker gives containers the servers that it asks.
      readResolvConf: () => ["/etc/resolv.conf", "/run/systemd/resolve/resolv.conf"].map(readFirst).join("\n"),
      openRelay: relayOpener(servers, options, log),
    }),
    ssh: createSshService({ docker_socket, bind_address, state_dir, clock, random: Math.random, log }),
    common_mounts: [{ source: directory, target: TOOLBOX_PATH, is_read_only: true }],
    sandbox: createSandbox({ state_dir, toolbox_directory: directory }),
    inventory: await retakeInventory(),
    retakeInventory,
    certificateFor: async (instance_id) => (await certificates()).makeCertificate(instance_id),
    renewCertificate: async (instance_id, key_pem) => (await certificates()).renewCertificate(instance_id, key_pem),
    isDiskLow: () => isDiskLow(storage.path),
    gpu_access: realGpuAccess({ state_dir, clock, log }),
    boot_id: options.boot_id ?? kernel_boot_id,
    kernel_boot_id,
    notes_store: fileNotes(join(state_dir, `notes-${host_key}.json`), onFailure("the notes cannot be written")),
    proof_store: options.proofOf(host_key, onFailure(PROOF_PROBLEM)),
    isPortFree: probePortOn(bind_address),
    refuseRegistry: registryGate({ allowed: options.allowed_registries, resolve: resolveByHost }),
    delay_ms: 0,
  });
}

function relayOpener(servers: ServerChoice, { port_range }: SettledOptions, log: Log) {
  const api_url = () => servers.urls.api_url;
  const isForRenters = (port: number) => port >= port_range.first && port <= port_range.last;
  return async (place: NetworkAddress): Promise<Relay | undefined> => {
    const relay = await openRelay({ api_url, place, limits: RELAY_LIMITS, isForRenters, clock: systemClock, log });
    if (!relay) log.warn({ ...place }, "no port is free for what containers ask the server: they do without");
    return relay;
  };
}

/** Most hosts never make a certificate: what it takes is loaded for the first one. */
function certificateMaker(
  servers: ServerChoice,
  { public_ipaddr, clock, log }: Omit<CertificateDependencies, "fetch" | "server_url">,
): () => Promise<Certificates> {
  let certificates: Promise<Certificates> | undefined;
  return () =>
    (certificates ??= import("./certificates/certificate.ts").then(
      (loaded) =>
        new loaded.Certificates({
          ...{ public_ipaddr, clock, log, fetch },
          get server_url() {
            return servers.urls.socket_url;
          },
        }),
    ));
}
