import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { declaredGpus, parseDeclaredGpus } from "./declared-gpus.ts";
import { parseCpuInfo, parseOsVersion, takeInventory } from "./inventory.ts";
import { parseCudaVersion, parseGpuQuery } from "./nvidia-smi.ts";

const TWO_GPUS = `GPU-11111111-2222-3333-4444-555555555555, 0, NVIDIA H200, 143771, 9.0, 700.00, 16, 5, 570.124.06
GPU-66666666-7777-8888-9999-000000000000, 1, NVIDIA GeForce RTX 4090, 24564, 8.9, [N/A], 16, 4, 570.124.06
`;

describe("the inventory", () => {
  it("reads GPUs as the vendor's tool prints them, with rates from the table of models", () => {
    const { gpus, driver_version, pci_gen } = parseGpuQuery(TWO_GPUS);
    assert.deepEqual([driver_version, pci_gen], ["570.124.06", 5]);
    assert.deepEqual(
      gpus.map((gpu) => [gpu.index, gpu.name, gpu.memory_mb, gpu.compute_cap, gpu.max_power_w, gpu.is_declared]),
      [
        [0, "H200", 143_771, 900, 700, false],
        [1, "RTX 4090", 24_564, 890, 450, false],
      ],
    );
    assert.equal(gpus[0]?.memory_gb_per_s, 4800);
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
    assert.deepEqual(parseCpuInfo(text, 0), { name: "AMD EPYC 7543", ghz: 2.79, has_avx: true });
    assert.deepEqual(parseCpuInfo("", 3_700_000), { name: "", ghz: 3.7, has_avx: false });
    assert.equal(parseOsVersion('NAME="Debian"\nVERSION_ID="12"\n'), "12");
    assert.equal(parseOsVersion(""), "");
  });

  it("declared GPUs are marked and have identities of their own", () => {
    const declared = parseDeclaredGpus("RTX 4090:2, H100_SXM");
    assert.ok(typeof declared !== "string");
    const gpus = declaredGpus("here", declared, 1);
    assert.deepEqual(
      gpus.map((gpu) => [gpu.uuid, gpu.index, gpu.name, gpu.is_declared]),
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

  it("this machine has processors, memory and a disk", async () => {
    const port_range = { first: 20_000, last: 29_999 };
    const input = { host_key: "here", docker_root: "/no/such/folder", public_ipaddr: "127.0.0.1", port_range };
    const { machine } = await takeInventory({ ...input, geolocation: ", US", declared: [] });
    assert.ok(machine.cpu_cores >= 1 && machine.memory_bytes > 0 && machine.disk_bytes > 0);
    assert.equal(machine.is_simulated, false);
  });
});
