import assert from "node:assert/strict";
import { test } from "node:test";
import { gpuModels, type GpuFacts, type MachineFacts } from "../../../../../../protocol/index.ts";
import { aGpu } from "../../../../../../test/support/hosts/fake-gpu.ts";
import { FACTS } from "../../../../../../test/support/hosts/machines.ts";
import { simulatedFacts } from "../../../../../../test/support/hosts/simulated-facts.ts";
import { findNonsense } from "./fact-sense.ts";

const fieldOf = (facts: Partial<MachineFacts>, gpus: readonly GpuFacts[] = [aGpu(0)]) =>
  findNonsense({ machine: { ...FACTS, ...facts }, gpus: [...gpus] })?.field;

test("an uplink beyond 400 Gbit/s, and every other fact that no machine has, is named as senseless", () => {
  for (const [facts, field] of [
    [{ inet_up_mbps: 1_000_000 }, "machine.inet_up_mbps"],
    [{ inet_down_mbps: 400_001 }, "machine.inet_down_mbps"],
    [{ cpu_cores: 4_096 }, "machine.cpu_cores"],
    [{ cpu_ghz: 50 }, "machine.cpu_ghz"],
    [{ memory_bytes: 1e15 }, "machine.memory_bytes"],
    [{ disk_bytes: 10.1e15 }, "machine.disk_bytes"],
    [{ disk_mb_per_s: 1e9 }, "machine.disk_mb_per_s"],
    [{ pcie_gb_per_s: 1e6 }, "machine.pcie_gb_per_s"],
    [{ pci_gen: 40 }, "machine.pci_gen"],
    [{ cuda_max_good: 99 }, "machine.cuda_max_good"],
    [{ driver_version: "999999.1" }, "machine.driver_version"],
    [{ driver_version: "newest" }, "machine.driver_version"],
    [{ inet_up_mbps: Number.NaN }, "machine.inet_up_mbps"],
  ] as const) {
    assert.equal(fieldOf(facts), field);
  }
  assert.equal(fieldOf({ inet_up_mbps: 400_000, inet_down_mbps: 400_000, driver_version: "" }), undefined);
});

test("a GPU whose memory, capability or speed contradicts its name is named as senseless", () => {
  for (const [gpu, key] of [
    [{ memory_mb: 1_000_000 }, "memory_mb"],
    [{ name: "RTX 4090", memory_mb: 81_559 }, "memory_mb"],
    [{ name: "H100 SXM", memory_mb: 8_192, compute_cap: 900 }, "memory_mb"],
    [{ compute_cap: 900 }, "compute_cap"],
    [{ compute_cap: 9 }, "compute_cap"],
    [{ tflops: 900 }, "tflops"],
    [{ dlperf: 5_000 }, "dlperf"],
    [{ memory_gb_per_s: 9_000 }, "memory_gb_per_s"],
    [{ pci_lanes: 512 }, "pci_lanes"],
    [{ max_power_w: 1e6 }, "max_power_w"],
  ] as const) {
    assert.equal(fieldOf({}, [aGpu(0), aGpu(1, gpu)]), `gpus[1].${key}`);
  }
  assert.equal(
    fieldOf(
      {},
      Array.from({ length: 33 }, (_, index) => aGpu(index)),
    ),
    "gpus",
  );
});

test("cards that are sold with half or twice the memory of their model, and models nobody knows, are let in", () => {
  for (const gpu of [
    { memory_mb: 49_140 },
    { memory_mb: 12_288 },
    { name: "RTX 9090", memory_mb: 65_536, compute_cap: 1500 },
  ]) {
    assert.equal(fieldOf({}, [aGpu(0, gpu)]), undefined);
  }
});

test("every model of the table and every machine that the simulator invents makes sense", () => {
  for (const { name } of gpuModels) assert.equal(fieldOf({}, [aGpu(0, { name })]), undefined, name);
  for (let number = 1; number <= 500; number += 1) {
    assert.equal(findNonsense(simulatedFacts("simulated", number)), undefined, String(number));
  }
});
