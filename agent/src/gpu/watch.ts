import type { GpuFacts, GpuHealth } from "../wire/messages.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Fault, FaultStore } from "./faults.ts";
import { faultText, healthOf, judge, judgeReload, NEW_GPU, type GpuHistory } from "./judge.ts";
import type { KernelLine, KernelLog } from "./kernel-log.ts";
import { lookAtGpus } from "./look.ts";
import type { Look } from "./sample.ts";
import type { NvidiaSmi } from "./tool.ts";
import { classifyXid, isDriverLoad, parseXid } from "./xid.ts";

const LOOK_EVERY_MS = 10_000;
/** On a machine with the tool and no GPU, one may still appear with its driver. */
const SEARCH_EVERY_MS = 60_000;
const FAULTS_LIMIT = 64;

export type GpuWatch = {
  /** Health of each GPU that was looked at, or that has a fault in the kernel log. */
  health(): readonly GpuHealth[];
  close(): void;
};

/** How the watch gets at the machine's GPUs. */
export type GpuAccess = {
  /** Null on a simulated host. */
  readonly tool: NvidiaSmi | null;
  readonly kernelLog: KernelLog;
  readonly faults: FaultStore;
};

export type GpuWatchInput = GpuAccess & {
  readonly clock: Clock;
  readonly log: Log;
  readonly bootId: string;
  /** The GPUs of the present inventory. Declared and simulated ones count as healthy and are never asked. */
  readonly gpus: () => readonly GpuFacts[];
  /** A GPU became sick or well. */
  readonly onChange: () => void;
  /**
   * The driver was loaded again, or there is a GPU that the inventory lacks: the host's description is out of date and
   * has to be made and sent again.
   */
  readonly onInventoryChange: () => void;
};

/** Watches the real GPUs of this host for as long as it runs. */
export function watchGpus(input: GpuWatchInput): GpuWatch {
  const watch = new Watch(input);
  return { health: () => watch.health(), close: () => watch.close() };
}

/** True for a GPU with a uuid as the vendor's tool writes them. */
function isReal(gpu: GpuFacts): boolean {
  return !gpu.isDeclared && gpu.uuid.startsWith("GPU-");
}

class Watch {
  readonly #input: GpuWatchInput;
  readonly #closing = new AbortController();
  readonly #histories = new Map<string, GpuHistory>();
  readonly #unknownNames = new Set<string>();
  #faults: readonly Fault[];
  #isReloaded = false;
  #driver = "";
  #gist = "";
  readonly #stopLog: () => void;

  constructor(input: GpuWatchInput) {
    this.#input = input;
    this.#faults = input.tool === null ? [] : input.faults.load(input.bootId);
    this.#stopLog =
      input.tool === null
        ? () => undefined
        : input.kernelLog(
            (line) => this.#read(line),
            (cause) => input.log.warn({ problem: String(cause) }, "the kernel log cannot be read: no Xid is seen"),
          );
    if (input.tool !== null) void this.#run(input.tool);
  }

  health(): readonly GpuHealth[] {
    return this.#input.gpus().flatMap((gpu) => {
      if (!isReal(gpu)) return [healthyGpu(gpu.uuid)];
      const history = this.#histories.get(gpu.uuid) ?? NEW_GPU;
      return healthOf(gpu.uuid, history, this.#faultOf(history)) ?? [];
    });
  }

  close(): void {
    this.#closing.abort();
    this.#stopLog();
  }

  async #run(tool: NvidiaSmi): Promise<void> {
    const { clock } = this.#input;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const watched = this.#input.gpus().filter(isReal);
      const buses = new Map(watched.map(({ uuid }) => [uuid, this.#histories.get(uuid)?.bus ?? ""]));
      const { look, gone } = await lookAtGpus({ tool, buses, unknownNames: this.#unknownNames, signal });
      if (signal.aborted) return;
      if (look === "no tool" && watched.length === 0) {
        this.#stopLog();
        return;
      }
      this.#note(look === "no tool" ? { kind: "failure", reason: "nvidia-smi is missing" } : look);
      const waitsMs = watched.length === 0 ? SEARCH_EVERY_MS : LOOK_EVERY_MS;
      await clock.sleep(waitsMs, signal);
      // A process that outlived its kill hangs in the driver: a second one would only hang beside it.
      await Promise.race([gone, aborted(signal)]);
    }
  }

  #note(look: Look): void {
    const known = this.#input.gpus().filter(isReal);
    for (const { uuid } of known) {
      this.#histories.set(uuid, judge(this.#histories.get(uuid) ?? NEW_GPU, uuid, look));
    }
    this.#tell();
    if (look.kind === "failure" || look.gpus.length === 0) return;
    const driver = look.gpus[0]?.driverVersion ?? "";
    const isOtherDriver = this.#driver !== "" && this.#driver !== driver;
    const uuids = new Set(known.map((gpu) => gpu.uuid));
    const isNew = look.gpus.some((gpu) => !uuids.has(gpu.uuid));
    this.#driver = driver;
    if (!isOtherDriver && !this.#isReloaded && !isNew) return;
    this.#isReloaded = false;
    this.#input.log.info({ driver, isNew }, "the GPUs of this machine have changed");
    this.#input.onInventoryChange();
  }

  #read(line: KernelLine): void {
    if (isDriverLoad(line.text)) {
      this.#keepFaults(this.#faults.filter((fault) => fault.sequence > line.sequence));
      this.#unknownNames.clear();
      // The driver that was there when the agent started is the one that it took its inventory with.
      if (line.isPast) return;
      this.#isReloaded = true;
      for (const [uuid, history] of this.#histories) this.#histories.set(uuid, judgeReload(history));
      this.#tell();
      return;
    }
    const xid = parseXid(line.text);
    if (!xid) return;
    const found = classifyXid(xid);
    if (found.kind !== "application" && !line.isPast) {
      this.#input.log.warn({ xid: xid.code, bus: xid.bus, text: xid.text }, "the driver reports a Xid");
    }
    if (found.kind !== "fatal" || this.#faults.some((fault) => fault.bus === xid.bus)) return;
    const fault = { bus: xid.bus, sequence: line.sequence, text: faultText(xid, found.meaning) };
    this.#keepFaults([...this.#faults, fault].slice(-FAULTS_LIMIT));
    this.#tell();
  }

  #keepFaults(faults: readonly Fault[]): void {
    if (faults.length === this.#faults.length) return;
    this.#faults = faults;
    this.#input.faults.save(this.#input.bootId, faults);
  }

  #faultOf({ bus }: GpuHistory): string | undefined {
    return bus === "" ? undefined : this.#faults.find((fault) => fault.bus === bus)?.text;
  }

  #tell(): void {
    const health = this.health();
    const gist = JSON.stringify(health.map(({ uuid, isHealthy, reason }) => [uuid, isHealthy, reason]));
    if (gist === this.#gist) return;
    this.#gist = gist;
    const sick = health.filter((gpu) => !gpu.isHealthy).map(({ uuid, reason }) => ({ uuid, reason }));
    if (sick.length > 0) this.#input.log.warn({ sick }, "a GPU is not healthy");
    this.#input.onChange();
  }
}

function healthyGpu(uuid: string): GpuHealth {
  return { uuid, isHealthy: true, reason: "", utilizationPercent: null, temperatureC: null };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
