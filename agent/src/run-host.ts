import type { GpuFacts, GpuHealth, MachineFacts } from "../../protocol/index.ts";
import type { Clock } from "./clock.ts";
import type { Engine } from "./engine.ts";
import { Host } from "./host.ts";
import type { Log } from "./log.ts";
import type { NotesStore } from "./notes.ts";
import type { PortProbe, PortRange } from "./ports.ts";
import { Session } from "./session.ts";

export type HostInput = {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  readonly server_url: string;
  readonly token: string;
  readonly host_key: string;
  readonly boot_id: string;
  readonly engine: Engine;
  readonly machine: MachineFacts;
  readonly gpus: readonly GpuFacts[];
  readonly real_gpu_uuids: ReadonlySet<string>;
  readonly public_ipaddr: string;
  readonly bind_address: string;
  readonly port_range: PortRange;
  readonly isPortFree: PortProbe;
  readonly notes_store: NotesStore;
  /** How long to wait before the first connection. */
  readonly delay_ms: number;
};

export type RunningHost = { readonly host: Host; readonly session: Session; close(): void };

const STOP_GRACE_MS = 10_000;
const LEASE_GRACE_MS = 2_000;

/** Puts one host together and lets it run: its containers are looked at first, then it connects. */
export function startHost(input: HostInput): RunningHost {
  const { clock, random, log, engine, host_key, machine, gpus } = input;
  const notes = input.notes_store.load();
  const host = new Host({
    clock,
    engine,
    random,
    log,
    notes,
    isPortFree: input.isPortFree,
    settings: {
      spec: {
        host_key,
        public_ipaddr: input.public_ipaddr,
        bind_address: input.bind_address,
        cpu_cores: machine.cpu_cores,
        real_gpu_uuids: input.real_gpu_uuids,
      },
      port_range: input.port_range,
      stop_grace_ms: STOP_GRACE_MS,
      lease_grace_ms: LEASE_GRACE_MS,
    },
    onChange: (urgency) => session.changed(urgency),
  });
  const describe = async () => {
    const version = await engine.version();
    const engineFacts = { kind: engine.kind, version: version.ok ? version.value.slice(0, 64) : "" };
    return { host_key, engine: engineFacts, machine, gpus: [...gpus] };
  };
  const deps = { ...input, describe, host, health: () => gpus.map(presentHealth) };
  const session = new Session(deps, notes);
  void host.begin().then(() => session.begin(input.delay_ms));
  return {
    host,
    session,
    close: () => {
      session.close();
      host.close();
    },
  };
}

/** A GPU found at the start counts as healthy: nothing watches it yet that could say otherwise. */
function presentHealth(gpu: GpuFacts): GpuHealth {
  return { uuid: gpu.uuid, is_healthy: true, reason: "", utilization_percent: null, temperature_c: null };
}
