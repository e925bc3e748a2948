import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gpuModels } from "../../../protocol/index.ts";
import { canonicalGpuName } from "./gpu-names.ts";

describe("GPU names", () => {
  for (const [printed, canonical] of [
    ["NVIDIA GeForce RTX 4090", "RTX 4090"],
    ["NVIDIA GeForce RTX 4090 D", "RTX 4090D"],
    ["NVIDIA GeForce RTX 4070 Ti", "RTX 4070 Ti"],
    ["NVIDIA GeForce RTX 4070 SUPER", "RTX 4070S"],
    ["NVIDIA GeForce RTX 4070 Ti SUPER", "RTX 4070S Ti"],
    ["NVIDIA GeForce RTX 3060 Laptop GPU", "RTX 3060 laptop"],
    ["GeForce GTX 1080 Ti", "GTX 1080 Ti"],
    ["GeForce GTX 970", "GeForce 970"],
    ["GeForce GTX 1660 SUPER", "GTX 1660S"],
    ["GeForce RTX 2060 SUPER", "RTX 2060S"],
    ["NVIDIA H200", "H200"],
    ["NVIDIA H200 NVL", "H200 NVL"],
    ["NVIDIA H100 80GB HBM3", "H100 SXM"],
    ["NVIDIA H100 PCIe", "H100 PCIE"],
    ["NVIDIA H100 NVL", "H100 NVL"],
    ["NVIDIA A100-SXM4-80GB", "A100 SXM4"],
    ["NVIDIA A100-PCIE-40GB", "A100 PCIE"],
    ["NVIDIA A100 80GB PCIe", "A100 PCIE"],
    ["NVIDIA GH200 480GB", "GH200 SXM"],
    ["NVIDIA B200", "B200"],
    ["NVIDIA A10G", "A10g"],
    ["NVIDIA A10", "A10"],
    ["NVIDIA L40S", "L40S"],
    ["NVIDIA L4", "L4"],
    ["Tesla T4", "Tesla T4"],
    ["Tesla V100-SXM2-16GB", "Tesla V100"],
    ["Tesla P100-PCIE-16GB", "Tesla P100"],
    ["NVIDIA RTX A6000", "RTX A6000"],
    ["NVIDIA RTX 6000 Ada Generation", "RTX 6000Ada"],
    ["NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "RTX PRO 6000 WS"],
    ["NVIDIA RTX PRO 4500 Blackwell", "RTX PRO 4500"],
    ["Quadro RTX 8000", "Q RTX 8000"],
    ["Quadro P4000", "Quadro P4000"],
    ["NVIDIA Something New", "Something New"],
  ] as const) {
    it(`"${printed}" is sold as "${canonical}"`, () => assert.equal(canonicalGpuName(printed), canonical));
  }

  it("a canonical name of the table stays as it is when the vendor prints it so", () => {
    for (const { name } of gpuModels) {
      if (/^(RTX A|Tesla|L4|H200$|B200)/.test(name)) assert.equal(canonicalGpuName(`NVIDIA ${name}`), name);
    }
  });
});
