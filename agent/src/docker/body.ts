import type { ContainerSpec, PortBinding } from "../engine/engine.ts";

/**
 * Capabilities of a tenant's root in its own container: Docker's default set without making device nodes, raw sockets,
 * file capabilities (void under no-new-privileges) and writing to the host's audit log.
 */
const CAPABILITIES = [
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "NET_BIND_SERVICE",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
] as const;
/** Enough for a training job with a thread per core and library, too few for a fork bomb to hurt the host. */
const PIDS_LIMIT = 16_384;
/** Rented memory for each allowed process: the kernel does not count all memory of a process as the renter's. */
const MEMORY_BYTES_PER_PID = 512 * 1024;
const PIDS_MIN = 1_024;
const NANO_CPUS_PER_MILLI = 1e6;
/** Share of the memory for /dev/shm: Docker's 64 MB are too small for data loaders that share tensors. */
const SHM_SHARE_OF_MEMORY = 0.5;

/** The body of `POST /containers/create`. */
export function createBody(spec: ContainerSpec): object {
  return {
    Image: spec.image,
    Labels: spec.labels,
    Env: spec.env.map(([name, value]) => `${name}=${value}`),
    ...(spec.entrypoint === null ? {} : { Entrypoint: spec.entrypoint }),
    ...(spec.command === null ? {} : { Cmd: spec.command }),
    ...(spec.hostname === null ? {} : { Hostname: spec.hostname }),
    ...(spec.user === null ? {} : { User: spec.user }),
    ExposedPorts: Object.fromEntries(spec.ports.map((port) => [portName(port), {}])),
    HostConfig: {
      Init: spec.hasInit,
      Privileged: false,
      // On hosts with cgroup v1 the default would show the whole host's tree.
      CgroupnsMode: "private",
      IpcMode: "private",
      Sysctls: { "net.ipv6.conf.all.disable_ipv6": "1" },
      CapDrop: ["ALL"],
      CapAdd: CAPABILITIES,
      SecurityOpt: ["no-new-privileges"],
      PidsLimit: pidsLimit(spec.memoryBytes),
      ...limits(spec),
      RestartPolicy: { Name: "no" },
      LogConfig: { Type: "json-file", Config: { "max-size": "10m", "max-file": "3" } },
      ...(spec.network === null ? {} : { NetworkMode: spec.network }),
      Mounts: mounts(spec),
      PortBindings: portBindings(spec),
      DeviceRequests: deviceRequests(spec.gpuUuids),
    },
  };
}

/**
 * A volume of the image is an anonymous one that lives in a folder of the agent's choice: the engine fills it from the
 * image when it is new, and forgets it with the container.
 */
function mounts(spec: ContainerSpec): object[] {
  const folders = spec.mounts.map(({ source, target, isReadOnly }) => ({
    Type: "bind",
    Source: source,
    Target: target,
    ReadOnly: isReadOnly,
    BindOptions: { Propagation: "rprivate" },
  }));
  const volumes = spec.imageVolumes.map(({ directory, target }) => ({
    Type: "volume",
    Target: target,
    VolumeOptions: { DriverConfig: { Name: "local", Options: { type: "none", o: "bind", device: directory } } },
  }));
  return [...folders, ...volumes];
}

function portName(port: PortBinding): string {
  return `${port.containerPort}/${port.protocol}`;
}

function pidsLimit(memoryBytes: number): number {
  if (memoryBytes === 0) return PIDS_LIMIT;
  return Math.max(PIDS_MIN, Math.min(PIDS_LIMIT, Math.floor(memoryBytes / MEMORY_BYTES_PER_PID)));
}

function limits(spec: ContainerSpec): object {
  const { cpuMillis, memoryBytes } = spec;
  return {
    ...(cpuMillis > 0 ? { NanoCpus: cpuMillis * NANO_CPUS_PER_MILLI } : {}),
    // Swap equal to memory means none: a tenant that swaps slows down everybody's disk.
    ...(memoryBytes > 0
      ? { Memory: memoryBytes, MemorySwap: memoryBytes, ShmSize: Math.floor(memoryBytes * SHM_SHARE_OF_MEMORY) }
      : {}),
  };
}

function portBindings(spec: ContainerSpec): Record<string, object[]> {
  const bindings: Record<string, object[]> = {};
  for (const port of spec.ports) {
    (bindings[portName(port)] ??= []).push({ HostIp: spec.bindAddress, HostPort: String(port.hostPort) });
  }
  return bindings;
}

/** Devices by name, never a count or "all": a container sees the GPUs of its GPU grants alone. */
function deviceRequests(gpuUuids: readonly string[]): object[] {
  if (gpuUuids.length === 0) return [];
  return [{ Driver: "nvidia", DeviceIDs: gpuUuids, Capabilities: [["gpu"]] }];
}
