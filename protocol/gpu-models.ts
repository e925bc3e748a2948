/** Published figures of one GPU model: facts of its data sheet, rounded. */
export type GpuModel = {
  readonly name: string;
  readonly memoryMb: number;
  readonly computeCap: number;
  readonly memoryGbPerS: number;
  readonly maxPowerW: number;
  /** Single precision, without tensor cores. */
  readonly tflops: number;
  /** 0 when the model has no such link. */
  readonly nvlinkGbPerS: number;
  readonly pciLanes: number;
};

function model(
  name: string,
  memoryMb: number,
  computeCap: number,
  [memoryGbPerS, maxPowerW, tflops]: readonly [number, number, number],
  nvlinkGbPerS = 0,
): GpuModel {
  const pciLanes = /^RTX (4060|5060|3050)/.test(name) ? 8 : 16;
  return { name, memoryMb, computeCap, memoryGbPerS, maxPowerW, tflops, nvlinkGbPerS, pciLanes };
}

export const gpuModels: readonly GpuModel[] = [
  model("GTX 1080 Ti", 11264, 610, [484, 250, 11.3]),
  model("RTX 2060", 6144, 750, [336, 160, 6.5]),
  model("RTX 2080 Ti", 11264, 750, [616, 250, 13.4], 100),
  model("RTX 3050", 8192, 860, [224, 130, 9.1]),
  model("RTX 3060", 12288, 860, [360, 170, 12.7]),
  model("RTX 3060 Ti", 8192, 860, [448, 200, 16.2]),
  model("RTX 3070", 8192, 860, [448, 220, 20.3]),
  model("RTX 3080", 10240, 860, [760, 320, 29.8]),
  model("RTX 3080 Ti", 12288, 860, [912, 350, 34.1]),
  model("RTX 3090", 24576, 860, [936, 350, 35.6], 112),
  model("RTX 3090 Ti", 24576, 860, [1008, 450, 40], 112),
  model("RTX 4060", 8192, 890, [272, 115, 15.1]),
  model("RTX 4060 Ti", 16384, 890, [288, 165, 22.1]),
  model("RTX 4070", 12288, 890, [504, 200, 29.1]),
  model("RTX 4070S", 12288, 890, [504, 220, 35.5]),
  model("RTX 4070 Ti", 12288, 890, [504, 285, 40.1]),
  model("RTX 4070S Ti", 16384, 890, [672, 285, 44.1]),
  model("RTX 4080", 16384, 890, [717, 320, 48.7]),
  model("RTX 4080S", 16384, 890, [736, 320, 52.2]),
  model("RTX 4090", 24564, 890, [1008, 450, 82.6]),
  model("RTX 4090D", 24564, 890, [1008, 425, 73.5]),
  model("RTX 5060", 8151, 1200, [448, 145, 19.2]),
  model("RTX 5060 Ti", 16311, 1200, [448, 180, 23.7]),
  model("RTX 5070", 12227, 1200, [672, 250, 30.9]),
  model("RTX 5070 Ti", 16303, 1200, [896, 300, 43.9]),
  model("RTX 5080", 16303, 1200, [960, 360, 56.3]),
  model("RTX 5090", 32607, 1200, [1792, 575, 104.8]),
  model("RTX A2000", 6138, 860, [288, 70, 8]),
  model("RTX A4000", 16376, 860, [448, 140, 19.2]),
  model("RTX A4500", 20470, 860, [640, 200, 23.7], 112),
  model("RTX A5000", 24564, 860, [768, 230, 27.8], 112),
  model("RTX A6000", 49140, 860, [768, 300, 38.7], 112),
  model("RTX 4000Ada", 20475, 890, [360, 130, 26.7]),
  model("RTX 5000Ada", 32760, 890, [576, 250, 65.3]),
  model("RTX 6000Ada", 49140, 890, [960, 300, 91.1]),
  model("RTX PRO 6000 WS", 97887, 1200, [1792, 600, 125]),
  model("RTX PRO 6000 S", 97887, 1200, [1597, 600, 120]),
  model("Q RTX 6000", 24576, 750, [672, 260, 16.3], 100),
  model("Q RTX 8000", 49152, 750, [672, 260, 16.3], 100),
  model("Tesla P4", 7680, 610, [192, 75, 5.5]),
  model("Tesla P40", 24576, 610, [347, 250, 11.8]),
  model("Tesla P100", 16384, 600, [732, 250, 9.5]),
  model("Tesla T4", 15360, 750, [320, 70, 8.1]),
  model("Tesla V100", 16384, 700, [900, 300, 15.7], 300),
  model("A10", 23028, 860, [600, 150, 31.2]),
  model("A10g", 23028, 860, [600, 150, 31.5]),
  model("A16", 15356, 860, [200, 62, 4.5]),
  model("A30", 24576, 800, [933, 165, 10.3], 200),
  model("A40", 46068, 860, [696, 300, 37.4], 112),
  model("A100 PCIE", 81920, 800, [1935, 300, 19.5], 600),
  model("A100 SXM4", 81920, 800, [2039, 400, 19.5], 600),
  model("L4", 23034, 890, [300, 72, 30.3]),
  model("L40", 46068, 890, [864, 300, 90.5]),
  model("L40S", 46068, 890, [864, 350, 91.6]),
  model("H100 PCIE", 81559, 900, [2039, 350, 51.2], 600),
  model("H100 NVL", 95830, 900, [3938, 400, 60], 600),
  model("H100 SXM", 81559, 900, [3352, 700, 66.9], 900),
  model("H200", 143771, 900, [4800, 700, 66.9], 900),
  model("H200 NVL", 143771, 900, [4800, 600, 60.3], 900),
  model("GH200 SXM", 97871, 900, [4022, 900, 66.9], 900),
  model("B200", 183359, 1000, [8000, 1000, 80], 1800),
];

const byName = new Map(gpuModels.map((entry) => [entry.name, entry]));

/** The model of a canonical name; undefined when the table does not have it. */
export function findGpuModel(name: string): GpuModel | undefined {
  return byName.get(name);
}

/**
 * One number to compare GPUs by when nothing was measured: deep learning is bound by arithmetic and by memory, so it
 * is their geometric mean, scaled so that an RTX 3090 has about 50.
 */
export function estimateDlperf(tflops: number, memoryGbPerS: number): number {
  return Math.round(Math.sqrt(tflops * memoryGbPerS) * 0.274 * 10) / 10;
}
