import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { declaredGpus, parseDeclaredGpus } from "./declared-gpus.ts";
import { systemClock } from "../base/clock.ts";
import { parseCpuInfo, parseOsVersion, takeInventory, usableMemory } from "./inventory.ts";
import { parseCudaVersion, parseGpuQuery, parseMaxTemperatures, parseNvlinks } from "./nvidia-smi.ts";

const TWO_GPUS = `GPU-11111111-2222-3333-4444-555555555555, 0, NVIDIA H200, 143771, 9.0, 700.00, 16, 5, 570.124.06, Disabled
GPU-66666666-7777-8888-9999-000000000000, 1, NVIDIA GeForce RTX 4090, 24564, 8.9, [N/A], 16, 4, 570.124.06, Enabled
`;

describe("the inventory", () => {
  it("reads GPUs as the vendor's tool prints them, with rates from the table of models", () => {
    const { gpus, driverVersion, pciGen } = parseGpuQuery(TWO_GPUS);
    assert.deepEqual([driverVersion, pciGen], ["570.124.06", 5]);
    assert.deepEqual(
      gpus.map((gpu) => [gpu.index, gpu.name, gpu.memoryMb, gpu.computeCap, gpu.maxPowerW, gpu.isDeclared]),
      [
        [0, "H200", 143_771, 900, 700, false],
        [1, "RTX 4090", 24_564, 890, 450, false],
      ],
    );
    assert.equal(gpus[0]?.memoryGbPerS, 4800);
  });

  it("says where a display is in use, and is silent where the tool does not tell", () => {
    assert.deepEqual(
      parseGpuQuery(TWO_GPUS).gpus.map((gpu) => gpu.isDisplayActive),
      [false, true],
    );
    const [silent] = parseGpuQuery(TWO_GPUS.replace("Disabled", "[N/A]")).gpus;
    assert.ok(silent !== undefined && !("isDisplayActive" in silent));
  });

  it("reads the highest working temperature of each GPU, and none of a board that tells only its distance", () => {
    const text = `
==============NVSMI LOG==============

Timestamp                                 : Mon Nov 23 10:00:00 2026
Driver Version                            : 570.124.06
CUDA Version                              : 12.8

Attached GPUs                             : 3
GPU 00000000:01:00.0
    Temperature
        GPU Current Temp                  : 41 C
        GPU T.Limit Temp                  : N/A
        GPU Shutdown Temp                 : 98 C
        GPU Slowdown Temp                 : 95 C
        GPU Max Operating Temp            : 93 C
        GPU Target Temperature            : 83 C
GPU 00000000:41:00.0
    Temperature
        GPU Current Temp                  : 30 C
        GPU T.Limit Temp                  : 57 C
        GPU Max Operating T.Limit Temp    : 0 C
GPU 00000000:81:00.0
    Temperature
        GPU Max Operating Temp            : 90 C
`;
    assert.deepEqual(
      [...parseMaxTemperatures(text)],
      [
        [0, 93],
        [2, 90],
      ],
    );
    assert.deepEqual([...parseMaxTemperatures("No devices were found\n")], []);
  });

  it("text without GPUs gives none", () => {
    for (const text of ["", "No devices were found\n", "Failed to initialize NVML\n"])
      assert.deepEqual(parseGpuQuery(text).gpus, []);
  });

  it("reads the highest CUDA version from the tool's heading", () => {
    assert.equal(
      parseCudaVersion("| NVIDIA-SMI 570.124.06   Driver Version: 570.124.06   CUDA Version: 12.8     |"),
      12.8,
    );
    assert.equal(parseCudaVersion("nothing"), 0);
  });

  it("reads processor and system", () => {
    const text = "model name\t: AMD EPYC 7543\ncpu MHz\t\t: 2794.750\nflags\t\t: fpu sse avx avx2\n";
    assert.deepEqual(parseCpuInfo(text, 0), { name: "AMD EPYC 7543", ghz: 2.79, hasAvx: true });
    assert.deepEqual(parseCpuInfo("", 3_700_000), { name: "", ghz: 3.7, hasAvx: false });
    assert.equal(parseOsVersion('NAME="Debian"\nVERSION_ID="12"\n'), "12");
    assert.equal(parseOsVersion(""), "");
  });

  it("declared GPUs are marked and have identities of their own", () => {
    const declared = parseDeclaredGpus("RTX 4090:2, H100_SXM");
    assert.ok(typeof declared !== "string");
    const gpus = declaredGpus("here", declared, 1);
    assert.deepEqual(
      gpus.map((gpu) => [gpu.uuid, gpu.index, gpu.name, gpu.isDeclared]),
      [
        ["declared-here-0", 1, "RTX 4090", true],
        ["declared-here-1", 2, "RTX 4090", true],
        ["declared-here-2", 3, "H100 SXM", true],
      ],
    );
  });

  it("a declaration that makes no sense says what is wrong", () => {
    for (const text of ["Voodoo 2", "RTX 4090:0", "RTX 4090:99"])
      assert.equal(typeof parseDeclaredGpus(text), "string");
    assert.deepEqual(parseDeclaredGpus(""), []);
  });

  it("this machine has processors, memory, a disk and a line", async (t) => {
    const stateDir = mkdtempSync(join(tmpdir(), "berth-inventory-"));
    t.after(() => rmSync(stateDir, { recursive: true }));
    const portRange = { first: 20_000, last: 29_999 };
    const input = { hostKey: "here", clock: systemClock, stateDir, publicIpaddr: "127.0.0.1", portRange };
    const rest = {
      ...input,
      geolocation: ", US",
      declared: [],
      inetUpMbps: 40,
      inetDownMbps: undefined,
      allowedRegistries: [],
    };
    const { machine } = await takeInventory(rest);
    assert.ok(machine.cpuCores >= 1 && machine.memoryBytes > 0 && machine.diskBytes > 0);
    assert.ok(machine.diskMbPerS > 0 && machine.inetDownMbps > 0);
    assert.equal(machine.inetUpMbps, 40, "the host knows its line best");
    assert.equal(machine.isSimulated, false);
  });

  it("a limit of the agent's control group is a limit of the machine", () => {
    assert.equal(usableMemory(64e9, 8e9), usableMemory(8e9, 0));
    assert.equal(usableMemory(64e9, 2 ** 63), usableMemory(64e9, 0));
  });

  it("some memory is kept for the system: a twentieth, not less than it needs, not more than half", () => {
    assert.deepEqual(
      [64e9, 8e9, 1000e9, 1e9].map((total) => usableMemory(total, 0)),
      [60.8e9, 7.25e9, 992e9, 0.5e9],
    );
  });

  it("NVLink counts by its active links, both directions of each", () => {
    const text = `GPU 0: NVIDIA H100 PCIe (UUID: GPU-6968dfc2-d444-d92c-c36b-6abe53445cb9)
\t Link 0: 26.562 GB/s
\t Link 1: 26.562 GB/s
\t Link 2: <inactive>
GPU 1: NVIDIA GeForce RTX 3090 (UUID: GPU-11111111-2222-3333-4444-555555555555)
NVML: Unable to retrieve NVLink information as all links are inActive
GPU 2: NVIDIA A100-SXM4-80GB (UUID: GPU-66666666-7777-8888-9999-000000000000)
${Array.from({ length: 12 }, (_, link) => `\t Link ${link}: 25 GB/s`).join("\n")}
`;
    assert.deepEqual(
      [...parseNvlinks(text)],
      [
        ["GPU-6968dfc2-d444-d92c-c36b-6abe53445cb9", 106],
        ["GPU-66666666-7777-8888-9999-000000000000", 600],
      ],
    );
    assert.deepEqual([...parseNvlinks("Failed to initialize NVML: Driver/library version mismatch\n")], []);
  });
});
