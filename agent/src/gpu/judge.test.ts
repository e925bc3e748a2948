import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  A100_ROW,
  CELL,
  H100,
  H100_MIG_ROW,
  H100_ROW,
  NEEDS_RESET_ROW,
  RTX_4090,
  RTX_4090_ROW,
  withCells,
} from "../../test/recorded-gpus.ts";
import {
  CLEAN_LOOKS,
  healthOf,
  HOT_LOOKS,
  judge,
  judgeReload,
  LINK_LOOKS,
  NEW_GPU,
  WARM_LOOKS,
  type GpuHistory,
} from "./judge.ts";
import { busOf, parseRemarks, parseRows, queryOf, refusedName, type Look } from "./sample.ts";

const { columns } = queryOf(new Set());

function look(...rows: readonly string[]): Look {
  const gpus = parseRows(rows.join("\n"), columns);
  assert.ok(gpus, "the rows can be read");
  return { kind: "sample", gpus, remarks: new Map() };
}

function judgeAll(uuid: string, looks: readonly Look[], history: GpuHistory = NEW_GPU): GpuHistory {
  return looks.reduce((before, one) => judge(before, uuid, one), history);
}

function reason(uuid: string, history: GpuHistory): string {
  return healthOf(uuid, history, undefined)?.reason ?? "unknown";
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

describe("the health of a GPU", () => {
  it("boards of every kind are healthy, with any part of their telemetry missing", () => {
    const looks = [look(H100_ROW, A100_ROW, RTX_4090_ROW), look(RTX_4090_ROW, H100_ROW, A100_ROW)];
    assert.deepEqual(healthOf(H100, judgeAll(H100, looks), undefined), {
      uuid: H100,
      isHealthy: true,
      reason: "",
      utilizationPercent: 97,
      temperatureC: 61,
      usedMemoryMb: 40_213,
      powerW: 602.71,
    });
    assert.equal(reason(RTX_4090, judgeAll(RTX_4090, looks)), "");
  });

  it("before the first look nothing is said of it", () => {
    assert.equal(healthOf(H100, NEW_GPU, undefined), undefined);
  });

  it("one that is not in the table any more has fallen off the bus, with or without a word in the kernel log", () => {
    const history = judgeAll(H100, [look(H100_ROW, A100_ROW), look(A100_ROW)]);
    assert.match(reason(H100, history), /missing/);
    assert.equal(healthOf(H100, history, undefined)?.temperatureC, null);
    assert.equal(healthOf(H100, history, undefined)?.usedMemoryMb, undefined);
  });

  it("one that the driver cannot open says what the driver said", () => {
    const remarks = parseRemarks("Unable to determine the device handle for GPU0000:1B:00.0: Unknown Error\n");
    const history = judgeAll(H100, [look(H100_ROW), { kind: "sample", gpus: [], remarks }]);
    assert.equal(reason(H100, history), "the driver cannot open the GPU: Unknown Error");
  });

  it("telemetry that should be there and cannot be read counts as sick", () => {
    for (const [cell, said] of [
      [CELL.eccSinceLoad, "[Unknown Error]"],
      [CELL.temperature, "ERR!"],
      [CELL.remapPending, "[Unknown Error]"],
      [CELL.hwThermal, "0x0000000000000040"],
      [CELL.memory, ""],
      [CELL.eccSinceLoad, "many"],
    ] as const) {
      const history = judgeAll(H100, [look(H100_ROW), look(withCells(H100_ROW, { [cell]: said }))]);
      assert.match(reason(H100, history), /^nvidia-smi cannot read /, said);
    }
  });

  it("error counters that ECC keeps and the tool does not tell count as sick", () => {
    assert.match(
      reason(H100, judgeAll(H100, [look(withCells(H100_ROW, { [CELL.eccSinceLoad]: "[N/A]" }))])),
      /ECC is enabled/,
    );
    const off = withCells(H100_ROW, { [CELL.eccMode]: "Disabled", [CELL.eccSinceLoad]: "[N/A]", 10: "[N/A]" });
    assert.equal(reason(H100, judgeAll(H100, [look(H100_ROW), look(off)])), "");
  });

  it("telemetry that was there and is gone counts as sick, but not under another driver", () => {
    const without = withCells(RTX_4090_ROW, { [CELL.temperature]: "[N/A]" });
    const history = judgeAll(RTX_4090, [look(RTX_4090_ROW), look(without)]);
    assert.match(reason(RTX_4090, history), /does not tell temperature.gpu any more/);
    const other = withCells(without, { [CELL.driver]: "580.65.06" });
    assert.equal(reason(RTX_4090, judgeAll(RTX_4090, [look(RTX_4090_ROW), look(other)])), "");
  });

  it("memory that went wrong, or waits for its repair, counts as sick", () => {
    for (const [cells, expected] of [
      [{ [CELL.eccSinceLoad]: "1" }, /^1 uncorrectable memory error since/],
      [{ [CELL.remapPending]: "Yes" }, /waits to be replaced/],
      [{ [CELL.remapFailure]: "Yes" }, /has to be exchanged/],
      [{ [CELL.retirePending]: "Yes" }, /waits to be retired/],
      [{ [CELL.memory]: "61559" }, /only 61559 of 81559 MiB/],
    ] as const) {
      assert.match(reason(H100, judgeAll(H100, [look(H100_ROW), look(withCells(H100_ROW, cells))])), expected);
    }
  });

  it("an action that the driver asks for is reported", () => {
    const history = judgeAll(H100, [look(withCells(H100_ROW, { [CELL.recovery]: "Drain and Reset" }))]);
    assert.equal(reason(H100, history), "the driver asks for: Drain and Reset");
    assert.match(reason(H100, judgeAll(H100, [look(NEEDS_RESET_ROW)])), /GPU requires reset/);
  });

  it("a GPU that is cut into slices cannot be rented whole", () => {
    assert.match(reason(H100, judgeAll(H100, [look(H100_MIG_ROW)])), /^MIG is enabled/);
  });

  it("a tool that gives no answer makes every GPU sick, and clean looks make them well again", () => {
    const silence: Look = { kind: "failure", reason: "nvidia-smi does not answer" };
    let history = judgeAll(H100, [look(H100_ROW), silence]);
    assert.equal(reason(H100, history), "nvidia-smi does not answer");
    history = judgeAll(H100, times(CLEAN_LOOKS - 1, look(H100_ROW)), history);
    assert.equal(reason(H100, history), "nvidia-smi does not answer");
    assert.equal(reason(H100, judgeAll(H100, [look(H100_ROW)], history)), "");
  });

  it("a GPU whose driver was just loaded is sick until it was seen well", () => {
    const history = judgeReload(judgeAll(H100, [look(H100_ROW)]));
    assert.match(reason(H100, history), /just loaded/);
    assert.equal(reason(H100, judgeAll(H100, times(CLEAN_LOOKS, look(H100_ROW)), history)), "");
  });

  it("heat has to last before it counts, and to be over before it does not", () => {
    const hot = look(withCells(H100_ROW, { [CELL.hwThermal]: "Active", [CELL.hwSlowdown]: "Active" }));
    let history = judgeAll(H100, times(HOT_LOOKS - 1, hot));
    assert.equal(reason(H100, history), "");
    history = judgeAll(H100, [hot], history);
    assert.equal(reason(H100, history), "the board slows itself down to protect itself from heat (61 °C)");
    const hotter = withCells(H100_ROW, { [CELL.hwThermal]: "Active", [CELL.temperature]: "88" });
    history = judgeAll(H100, [look(hotter)], history);
    assert.match(reason(H100, history), /61 °C/, "a degree more is no news");
    history = judgeAll(H100, [look(H100_ROW), look(H100_ROW), hot, look(H100_ROW), look(H100_ROW)], history);
    assert.match(reason(H100, history), /heat/, "it went on in between");
    assert.equal(reason(H100, judgeAll(H100, [look(H100_ROW)], history)), "");
  });

  it("the gentle limit of an air-cooled board counts only when it goes on for minutes", () => {
    const warm = look(withCells(RTX_4090_ROW, { [CELL.swThermal]: "Active" }));
    const history = judgeAll(RTX_4090, times(WARM_LOOKS - 1, warm));
    assert.equal(reason(RTX_4090, history), "");
    assert.match(reason(RTX_4090, judgeAll(RTX_4090, [warm], history)), /for minutes/);
  });

  it("lack of power is told from heat", () => {
    const braked = look(withCells(H100_ROW, { [CELL.powerBrake]: "Active" }));
    assert.match(reason(H100, judgeAll(H100, times(HOT_LOOKS, braked))), /lack of power/);
  });

  it("a link that saves power at rest is well, and one that stays slow under load is not", () => {
    const resting = look(withCells(H100_ROW, { [CELL.utilization]: "0", [CELL.linkGen]: "1" }));
    const slow = look(withCells(H100_ROW, { [CELL.linkWidth]: "4" }));
    let history = judgeAll(H100, [look(H100_ROW), ...times(LINK_LOOKS * 3, resting)]);
    assert.equal(reason(H100, history), "");
    history = judgeAll(H100, times(LINK_LOOKS, slow), history);
    assert.equal(reason(H100, history), "the PCI Express link fell back to generation 5 x4 from generation 5 x16");
  });

  it("a clean day gives no false alarm", () => {
    const LOOKS_PER_DAY = 8_640;
    const quirk = fc.record({
      at: fc.integer({ min: 0, max: LOOKS_PER_DAY - 1 }),
      length: fc.integer({ min: 1, max: HOT_LOOKS - 1 }),
      cell: fc.constantFrom(CELL.hwThermal, CELL.powerBrake, CELL.swThermal),
    });
    const seeds = fc.array(fc.nat(1_000_000), { minLength: 1_000, maxLength: 1_000 });
    fc.assert(
      fc.property(seeds, fc.array(quirk, { maxLength: 20 }), (numbers, quirks) => {
        let history = NEW_GPU;
        // Short warm moments, apart from each other as they are when each comes from one burst of work.
        const active = new Map<number, number>();
        for (const { at, length, cell } of quirks) {
          if ([...active.keys()].some((taken) => Math.abs(taken - at) < 2 * HOT_LOOKS)) continue;
          for (let step = 0; step < length; step += 1) active.set(at + step, cell);
        }
        for (let index = 0; index < LOOKS_PER_DAY; index += 1) {
          const number = numbers[index % numbers.length] ?? 0;
          const busy = number % 3 !== 0;
          const cells: Record<number, string> = {
            [CELL.utilization]: String(busy ? number % 101 : 0),
            [CELL.temperature]: String(28 + (number % 58)),
            [CELL.linkGen]: busy && number % 101 >= 50 ? "5" : String(1 + (number % 5)),
          };
          const cell = active.get(index);
          if (cell !== undefined) cells[cell] = "Active";
          history = judge(history, H100, look(withCells(H100_ROW, cells)));
          assert.equal(reason(H100, history), "", `look ${index}`);
        }
      }),
      { numRuns: 5 },
    );
  });

  it("any output of the tool is read or refused, and never throws", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 400 }), (text) => {
        const gpus = parseRows(text, columns);
        if (gpus) for (const gpu of gpus) assert.ok(gpu.uuid.startsWith("GPU-"));
        parseRemarks(text);
        refusedName(text);
      }),
    );
    for (const text of ["garbage", H100_ROW.slice(0, 60), `${H100_ROW}\nSegmentation fault`, `${H100_ROW}, more`]) {
      assert.equal(parseRows(text, columns), undefined, text);
    }
  });
});

describe("the tool's words", () => {
  it("a column that the driver does not know is asked for by its older name, then not at all", () => {
    assert.equal(
      refusedName('Field "clocks_event_reasons.hw_slowdown" is not a valid field to query.\n'),
      "clocks_event_reasons.hw_slowdown",
    );
    const older = queryOf(new Set(["clocks_event_reasons.hw_slowdown", "gpu_recovery_action"]));
    assert.match(older.args[0] ?? "", /clocks_throttle_reasons\.hw_slowdown/);
    assert.ok(!older.columns.includes("recovery") && older.columns.includes("hwSlowdown"));
  });

  it("names the place of a GPU as the kernel log does", () => {
    for (const text of ["00000000:1B:00.0", "0000:1B:00", "0000:1b:00.0"]) assert.equal(busOf(text), "0000:1b:00");
    assert.equal(busOf("somewhere"), "");
  });

  it("finds what is said of single GPUs in every form", () => {
    const text = [
      "Unable to determine the device handle for GPU 0000:02:00.0: GPU is lost.  Reboot the system to recover this GPU",
      "Unable to determine the device handle for GPU3: 0000:CA:00.0: Unknown Error",
      "WARNING: infoROM is corrupted at gpu 0000:3B:00.0",
    ].join("\n");
    assert.deepEqual(
      [...parseRemarks(text)],
      [
        ["0000:02:00", "the driver cannot open the GPU: GPU is lost"],
        ["0000:ca:00", "the driver cannot open the GPU: Unknown Error"],
        ["0000:3b:00", "the board's own memory for settings is corrupted (infoROM)"],
      ],
    );
  });
});
