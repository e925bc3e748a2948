import type { Certificate } from "../certificates/certificate.ts";
import type { Clock } from "../base/clock.ts";
import type { SpecContext } from "./container-spec.ts";
import type { Disks } from "../disks/index.ts";
import type { Engine, Mount } from "../engine/engine.ts";
import type { Log } from "../base/log.ts";
import type { Network } from "../network/network.ts";
import type { Notes } from "./notes.ts";
import type { ObservedInstance, ObservedVolume } from "../wire/messages.ts";
import type { PortProbe, PortRange } from "./ports.ts";
import type { RefuseRegistry } from "../images/registries.ts";
import type { SshService } from "../ssh/service.ts";

export type HostSettings = {
  readonly spec: SpecContext;
  readonly portRange: PortRange;
  /** Milliseconds that a process may take to end after the stop signal. */
  readonly stopGraceMs: number;
  /** Milliseconds that a process may take to end after a lost lease: the machine may be sold again soon. */
  readonly leaseGraceMs: number;
  /** Folders that every container sees beside its own files. */
  readonly commonMounts: readonly Mount[];
  /** Images of the host's owner that renters may use. */
  readonly localImages: readonly string[];
};

/** The parts of one host; `run-host.ts` puts them together. */
export type HostDependencies = {
  readonly clock: Clock;
  readonly engine: Engine;
  readonly disks: Disks;
  readonly network: Network;
  /** The SSH server; undefined on simulated hosts, whose instances nobody can enter. */
  readonly ssh: SshService | undefined;
  readonly settings: HostSettings;
  readonly bootId: string;
  readonly random: () => number;
  readonly isPortFree: PortProbe;
  readonly refuseRegistry: RefuseRegistry;
  readonly log: Log;
  readonly notes: Notes | undefined;
  /** Resolves to true while the host is running out of room for images. */
  readonly isDiskLow: () => Promise<boolean>;
  /** Makes a certificate; absent on simulated hosts, whose containers need none. */
  readonly certificateFor?: (instanceId: number) => Promise<Certificate>;
  /** Makes everybody let go of the files of an instance that does not run, before it is started or removed. */
  readonly vacate?: (instanceId: number) => Promise<void>;
  /** `state` should be reported at once, `progress` when convenient. */
  readonly onChange: (urgency: "state" | "progress") => void;
};

/** The observed set of one host. */
export type HostReport = {
  readonly desiredVersion: number;
  readonly instances: ObservedInstance[];
  readonly volumes: readonly ObservedVolume[];
  /** Runs whose last counters are among the instances, for the acknowledgement. */
  readonly finals: readonly string[];
};
