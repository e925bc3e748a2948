/** Rows as the tool prints them for boards of several kinds, in the order in which the watch asks for the columns. */
export const H100_ROW =
  "GPU-8f6a2c1e-0d3b-4e55-9c1f-5a7b0c2d4e6f, 00000000:1B:00.0, 570.124.06, P0, 97, 61, 81559, Disabled, Enabled, 0, 2, " +
  "No, No, [N/A], Not Active, Not Active, Not Active, Not Active, 5, 16, None, 40213, 602.71";
export const H100_MIG_ROW =
  "GPU-8f6a2c1e-0d3b-4e55-9c1f-5a7b0c2d4e6f, 00000000:1B:00.0, 570.124.06, P0, [N/A], 35, 81559, Enabled, Enabled, 0, 0, " +
  "No, No, [N/A], Not Active, Not Active, Not Active, Not Active, 5, 16, None, [N/A], 118.40";
export const A100_ROW =
  "GPU-11b0a4d2-77aa-4c09-8b31-90e4b1d7a5c3, 00000000:41:00.0, 570.124.06, P0, 12, 44, 81920, Disabled, Enabled, 0, 0, " +
  "No, No, [N/A], Not Active, Not Active, Not Active, Not Active, 4, 16, None, 512, 71.05";
export const RTX_4090_ROW =
  "GPU-c0ffee00-1234-4321-abcd-0123456789ab, 00000000:01:00.0, 570.124.06, P8, 0, 38, 24564, [N/A], [N/A], [N/A], " +
  "[N/A], [N/A], [N/A], [N/A], Not Active, Not Active, Not Active, Not Active, 1, 16, None, 3, [N/A]";
/** A board after a fault that the driver cannot clear: most of it cannot be read any more. */
export const NEEDS_RESET_ROW =
  "GPU-8f6a2c1e-0d3b-4e55-9c1f-5a7b0c2d4e6f, 00000000:1B:00.0, 570.124.06, [GPU requires reset], [GPU requires reset], " +
  "[GPU requires reset], 81559, Disabled, Enabled, [GPU requires reset], [GPU requires reset], No, No, [N/A], " +
  "[GPU requires reset], [GPU requires reset], [GPU requires reset], [GPU requires reset], 5, 16, Reset, " +
  "[GPU requires reset], [GPU requires reset]";

export const H100 = "GPU-8f6a2c1e-0d3b-4e55-9c1f-5a7b0c2d4e6f";
export const A100 = "GPU-11b0a4d2-77aa-4c09-8b31-90e4b1d7a5c3";
export const RTX_4090 = "GPU-c0ffee00-1234-4321-abcd-0123456789ab";

/** The row with some columns, counted from 0, holding something else. */
export function withCells(row: string, cells: Readonly<Record<number, string>>): string {
  return row
    .split(", ")
    .map((cell, index) => cells[index] ?? cell)
    .join(", ");
}

/** Places of the columns that tests change. */
export const CELL = {
  driver: 2,
  utilization: 4,
  temperature: 5,
  memory: 6,
  eccMode: 8,
  eccSinceLoad: 9,
  remapPending: 11,
  remapFailure: 12,
  retirePending: 13,
  hwSlowdown: 14,
  hwThermal: 15,
  powerBrake: 16,
  swThermal: 17,
  linkGen: 18,
  linkWidth: 19,
  recovery: 20,
} as const;
