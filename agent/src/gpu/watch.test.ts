import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import type { GpuFacts } from "../wire/messages.ts";
import { until } from "../../../test/support/until.ts";
import { ManualClock } from "../../test/manual-clock.ts";
import { A100, A100_ROW, CELL, H100, H100_ROW, withCells } from "../../test/recorded-gpus.ts";
import { systemClock } from "../base/clock.ts";
import { silentLog } from "../base/log.ts";
import { fileFaults, forgetfulFaults, type FaultStore } from "./faults.ts";
import type { KernelLine } from "./kernel-log.ts";
import { TOOL_LIMIT_MS } from "./look.ts";
import { nvidiaSmi, type NvidiaSmi, type ToolAnswer } from "./tool.ts";
import { watchGpus, type GpuWatch } from "./watch.ts";

const LOOK_MS = 10_000;
const RELOAD = "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.124.06  Thu Oct 19 18:56:32 UTC 2023";
const XID_79 = "NVRM: Xid (PCI:0000:1B:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.";

function gpu(uuid: string, isDeclared = false): GpuFacts {
  return {
    uuid,
    index: 0,
    name: "H100 SXM",
    memoryMb: 81_559,
    computeCap: 900,
    memoryGbPerS: 3352,
    maxPowerW: 700,
    tflops: 66.9,
    dlperf: 129,
    pciLanes: 16,
    nvlinkGbPerS: 900,
    isDeclared,
  };
}

type Options = {
  readonly gpus?: readonly GpuFacts[];
  readonly faults?: FaultStore;
  readonly bootId?: string;
  readonly tool?: NvidiaSmi | null;
  /** The tool's answer from the first look on. */
  readonly answer?: Bench["answer"];
};

/** A watch over a tool and a kernel log in the hands of the test. */
class Bench {
  readonly clock = new ManualClock();
  readonly calls: string[][] = [];
  readonly watch: GpuWatch;
  changes = 0;
  inventories = 0;
  running = 0;
  mostRunning = 0;
  isLogOpen = false;
  gpus: readonly GpuFacts[];
  answer: (args: readonly string[]) => ToolAnswer | "hang";
  #sequence = 100;
  #onLine: (line: KernelLine) => void = () => undefined;

  constructor(t: TestContext, options: Options = {}) {
    this.gpus = options.gpus ?? [gpu(H100), gpu(A100)];
    this.answer = options.answer ?? (() => output(H100_ROW, A100_ROW));
    this.watch = watchGpus({
      clock: this.clock,
      log: silentLog,
      bootId: options.bootId ?? "boot",
      gpus: () => this.gpus,
      tool: options.tool === undefined ? this.#tool : options.tool,
      kernelLog: (onLine) => {
        this.#onLine = onLine;
        this.isLogOpen = true;
        return () => (this.isLogOpen = false);
      },
      faults: options.faults ?? forgetfulFaults,
      onChange: () => (this.changes += 1),
      onInventoryChange: () => (this.inventories += 1),
    });
    t.after(() => this.watch.close());
  }

  readonly #tool: NvidiaSmi = (args) => {
    this.calls.push([...args]);
    this.running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    const answer = this.answer(args);
    if (answer === "hang") {
      const silence = this.clock.sleep(TOOL_LIMIT_MS).then((): ToolAnswer => ({ kind: "silence" }));
      return { answer: silence, gone: new Promise(() => undefined) };
    }
    this.running -= 1;
    return { answer: Promise.resolve(answer), gone: Promise.resolve() };
  };

  kernelSays(text: string, isPast = false): void {
    this.#sequence += 1;
    this.#onLine({ sequence: this.#sequence, text, isPast });
  }

  looks(count: number): Promise<void> {
    return this.clock.advance(count * LOOK_MS);
  }

  reasons(): Record<string, string> {
    return Object.fromEntries(this.watch.health().map((one) => [one.uuid, one.reason]));
  }
}

function output(...rows: readonly string[]): ToolAnswer {
  return { kind: "answer", exitCode: 0, output: `${rows.join("\n")}\n\n` };
}

function failure(exitCode: number, text: string): ToolAnswer {
  return { kind: "answer", exitCode, output: `${text}\n\n` };
}

describe("the watch over GPUs", () => {
  it("says nothing before its first look, then that all are well", async (t) => {
    const bench = new Bench(t);
    assert.deepEqual(bench.reasons(), {});
    await bench.looks(0);
    assert.deepEqual(bench.reasons(), { [H100]: "", [A100]: "" });
    await bench.looks(20);
    assert.ok(bench.calls.length >= 20);
    assert.equal(bench.changes, 1);
    assert.equal(bench.inventories, 0);
  });

  it("an Xid takes its GPU off at once, and no other", async (t) => {
    const bench = new Bench(t);
    await bench.looks(1);
    bench.kernelSays("NVRM: Xid (PCI:0000:1B:00): 31, pid=1896, name=python3, Ch 00000008");
    assert.equal(bench.reasons()[H100], "");
    bench.kernelSays(XID_79);
    assert.match(bench.reasons()[H100] ?? "", /^Xid 79: the GPU has fallen off the bus; load the driver again/);
    assert.equal(bench.reasons()[A100], "");
    assert.equal(bench.changes, 2);
  });

  it("a GPU that leaves without a word is missed at the next look", async (t) => {
    const bench = new Bench(t);
    await bench.looks(1);
    bench.answer = () => output(A100_ROW);
    await bench.looks(1);
    assert.match(bench.reasons()[H100] ?? "", /missing/);
    assert.equal(bench.reasons()[A100], "");
    assert.equal(bench.inventories, 0);
  });

  it("when one GPU cannot be opened, the others are asked one by one", async (t) => {
    const bench = new Bench(t);
    await bench.looks(1);
    bench.answer = (args) =>
      args.includes(A100)
        ? output(A100_ROW)
        : failure(15, "Unable to determine the device handle for GPU0000:1B:00.0: GPU is lost.  Reboot the system");
    await bench.looks(1);
    assert.match(bench.reasons()[H100] ?? "", /cannot open the GPU: GPU is lost/);
    assert.equal(bench.reasons()[A100], "");
  });

  it("a tool that hangs makes all sick within a minute, and is never started beside itself", async (t) => {
    const bench = new Bench(t);
    await bench.looks(1);
    bench.answer = () => "hang";
    await bench.clock.advance(60_000);
    assert.deepEqual(bench.reasons(), { [H100]: "nvidia-smi does not answer", [A100]: "nvidia-smi does not answer" });
    const calls = bench.calls.length;
    await bench.clock.advance(3_600_000);
    assert.equal(bench.calls.length, calls);
    assert.equal(bench.mostRunning, 1);
  });

  it("a tool that does not work, prints nonsense or went away makes all sick", async (t) => {
    const bench = new Bench(t);
    for (const [answer, expected] of [
      [
        failure(9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."),
        /does not work: NVIDIA/,
      ],
      [output("<html>"), /cannot be read/],
      [output(H100_ROW, H100_ROW.slice(0, 70)), /cannot be read/],
      [{ kind: "missing" } as const, /is missing/],
    ] as const) {
      bench.answer = () => answer;
      await bench.looks(1);
      for (const reason of Object.values(bench.reasons())) assert.match(reason, expected);
    }
    bench.answer = () => output(H100_ROW, A100_ROW);
    await bench.looks(4);
    assert.deepEqual(bench.reasons(), { [H100]: "", [A100]: "" });
  });

  it("learns which columns an older driver knows", async (t) => {
    const unknown = ["gpu_recovery_action", "remapped_rows.pending", "clocks_event_reasons.sw_thermal_slowdown"];
    const answer = (args: readonly string[]) => {
      const refused = unknown.find((name) => args[0]?.includes(name));
      if (refused !== undefined) return failure(2, `Field "${refused}" is not a valid field to query.`);
      return output(withoutColumns(H100_ROW), withoutColumns(A100_ROW));
    };
    const bench = new Bench(t, { answer });
    await bench.looks(0);
    assert.deepEqual(bench.reasons(), { [H100]: "", [A100]: "" });
    const calls = bench.calls.length;
    await bench.looks(1);
    assert.equal(bench.calls.length, calls + 1, "it asks only once for what it knows to be refused");
  });

  it("a new start of the driver ends its faults, and asks for a new inventory", async (t) => {
    const bench = new Bench(t);
    await bench.looks(1);
    bench.kernelSays(XID_79);
    bench.answer = () => failure(9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.");
    await bench.looks(2);
    bench.kernelSays(RELOAD);
    assert.match(bench.reasons()[H100] ?? "", /being checked/);
    assert.equal(bench.inventories, 0);
    bench.answer = () => output(H100_ROW, A100_ROW);
    await bench.looks(1);
    assert.equal(bench.inventories, 1);
    await bench.looks(4);
    assert.deepEqual(bench.reasons(), { [H100]: "", [A100]: "" });
    assert.equal(bench.inventories, 1);
  });

  it("another driver without a word in the log, and a GPU that was not there, ask for a new inventory", async (t) => {
    const bench = new Bench(t);
    await bench.looks(1);
    const driver = { [CELL.driver]: "580.65.06" };
    bench.answer = () => output(withCells(H100_ROW, driver), withCells(A100_ROW, driver));
    await bench.looks(1);
    assert.equal(bench.inventories, 1);
    bench.gpus = [gpu(H100)];
    await bench.looks(1);
    assert.equal(bench.inventories, 2);
  });

  it("faults outlive the agent and the ring of the log, but not the boot", async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "berth-faults-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "faults.json");
    const store = () => fileFaults(path, (cause) => assert.fail(String(cause)));
    const first = new Bench(t, { faults: store() });
    await first.looks(1);
    first.kernelSays(XID_79);
    first.watch.close();

    const second = new Bench(t, { faults: store() });
    await second.looks(1);
    assert.match(second.reasons()[H100] ?? "", /^Xid 79/);
    const rebooted = new Bench(t, { faults: store(), bootId: "another" });
    await rebooted.looks(1);
    assert.equal(rebooted.reasons()[H100], "");

    writeFileSync(path, "{");
    assert.deepEqual(store().load("boot"), []);
  });

  it("faults that the log of this boot still holds count, up to the last start of the driver", async (t) => {
    const bench = new Bench(t);
    bench.kernelSays(XID_79, true);
    bench.kernelSays(RELOAD, true);
    await bench.looks(1);
    assert.equal(bench.reasons()[H100], "");
    assert.equal(bench.inventories, 0);
    bench.kernelSays(XID_79, true);
    assert.match(bench.reasons()[H100] ?? "", /^Xid 79/);
  });

  it("declared and simulated GPUs are healthy and never asked", async (t) => {
    const simulated = new Bench(t, { gpus: [gpu("simulated-1-0"), gpu("declared-1-0", true)], tool: null });
    await simulated.looks(3);
    assert.deepEqual(simulated.reasons(), { "simulated-1-0": "", "declared-1-0": "" });
    assert.equal(simulated.isLogOpen, false);
    const declared = new Bench(t, { gpus: [gpu("declared-1-0", true)], answer: () => ({ kind: "missing" }) });
    await declared.looks(100);
    assert.deepEqual(declared.reasons(), { "declared-1-0": "" });
    assert.equal(declared.calls.length, 1, "a machine without the tool runs nothing");
    assert.equal(declared.isLogOpen, false);
  });

  it("closed, it looks no more", async (t) => {
    const bench = new Bench(t);
    await bench.looks(1);
    bench.watch.close();
    const calls = bench.calls.length;
    await bench.looks(5);
    assert.equal(bench.calls.length, calls);
  });
});

/** The row as a driver prints it that knows neither remapped rows pending nor recovery actions. */
function withoutColumns(row: string): string {
  const cells = row.split(", ");
  return cells.filter((_, index) => index !== CELL.remapPending && index !== CELL.recovery).join(", ");
}

describe("the tool's process", () => {
  function script(t: TestContext, text: string): string {
    const folder = mkdtempSync(join(tmpdir(), "berth-tool-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "nvidia-smi");
    writeFileSync(path, `#!/bin/sh\n${text}\n`);
    chmodSync(path, 0o755);
    return path;
  }
  const never = () => new AbortController().signal;

  it("gives what it printed and its exit code", async (t) => {
    const path = script(t, 'echo "$1"; echo "WARNING: something" >&2; exit 14');
    const { answer, gone } = nvidiaSmi(systemClock, path)(["-q"], 60_000, never());
    assert.deepEqual(await answer, { kind: "answer", exitCode: 14, output: "-q\n\nWARNING: something\n" });
    await gone;
  });

  it("is killed for certain when it does not answer in time", async (t) => {
    const path = script(t, `trap '' TERM INT HUP; echo $$ > "$1"; while :; do read -r line < /dev/zero; done`);
    const pidFile = join(path, "..", "pid");
    const clock = new ManualClock();
    const { answer, gone } = nvidiaSmi(clock, path)([pidFile], 300, never());
    const pid = await until("it hears no signal", () => /^(\d+)\n/.exec(readFileSync(pidFile, "utf8"))?.[1]);
    await clock.advance(300);
    assert.deepEqual(await answer, { kind: "silence" });
    await gone;
    assert.throws(() => process.kill(Number(pid), 0), /ESRCH/);
  });

  it("that is not there is missing", async () => {
    const { answer, gone } = nvidiaSmi(systemClock, "/no/such/nvidia-smi")([], 60_000, never());
    assert.deepEqual(await answer, { kind: "missing" });
    await gone;
  });
});
