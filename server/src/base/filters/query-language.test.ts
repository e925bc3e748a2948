import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "../errors.ts";
import { parseQueryLanguage } from "./query-language.ts";

const options = {
  source: "q",
  aliases: { dph: "dph_total", cuda_vers: "cuda_max_good" },
  multipliers: { gpu_ram: 1000, duration: 86_400 },
  versionFields: ["driver_version"],
};

function read(text: string) {
  return parseQueryLanguage(text, options).filters;
}

test("operators may be symbols or words, with or without blanks around symbols", () => {
  assert.deepEqual(read("num_gpus>=4 dph <2 reliability > 0.98 cpu_cores lte 64"), {
    num_gpus: { gte: "4" },
    dph_total: { lt: "2" },
    reliability: { gt: "0.98" },
    cpu_cores: { lte: "64" },
  });
  for (const operator of ["!=", " neq ", " noteq ", " not eq "]) {
    assert.deepEqual(read(`host_id${operator}7`), { host_id: { neq: "7" } });
  }
  for (const operator of ["notin", "nin", "not in"]) {
    assert.deepEqual(read(`host_id ${operator} [7,8]`), { host_id: { notin: ["7", "8"] } });
  }
});

test("lists may have brackets or not, blanks and quotes inside brackets", () => {
  const expected = { gpu_name: { in: ["RTX 4090", "H100 SXM"] } };
  assert.deepEqual(read("gpu_name in [RTX_4090,H100_SXM]"), expected);
  assert.deepEqual(read("gpu_name in RTX_4090,H100_SXM"), expected);
  assert.deepEqual(read('gpu_name in [ "RTX 4090", "H100 SXM" ]'), expected);
  assert.deepEqual(read("geolocation in US"), { geolocation: { in: ["US"] } });
});

test("an underscore is a blank, quotes group, and words become booleans and null", () => {
  assert.deepEqual(read('gpu_name=RTX_3090 mobo_name="X570 Pro" verified=True rentable==false cluster_id=None'), {
    gpu_name: { eq: "RTX 3090" },
    mobo_name: { eq: "X570 Pro" },
    verified: { eq: true },
    rentable: { eq: false },
    cluster_id: { eq: null },
  });
});

test("a wildcard removes the field, also from defaults", () => {
  const query = parseQueryLanguage("verified=any num_gpus=2 external=* rentable = ?", options);
  assert.deepEqual(query, {
    filters: { num_gpus: { eq: "2" } },
    unconstrained: ["verified", "external", "rentable"],
  });
});

test("comparisons of one field are merged", () => {
  assert.deepEqual(read("num_gpus>=2 num_gpus<=8"), { num_gpus: { gte: "2", lte: "8" } });
});

test("units that people write become units of the API", () => {
  assert.deepEqual(read("gpu_ram>=24 gpu_ram<16.1 duration>3.5"), {
    gpu_ram: { gte: 24_000, lt: 16_100 },
    duration: { gt: 302_400 },
  });
});

test("a dotted version becomes one integer, one without dots stays", () => {
  assert.deepEqual(read("driver_version>=535.86.05"), { driver_version: { gte: 535_086_005 } });
  assert.deepEqual(read("driver_version>=535086005"), { driver_version: { gte: "535086005" } });
});

test("a query that cannot be read is refused, and the message says where", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["num_gpus", /expected an operator .* after num_gpus/],
    ["num_gpus =", /num_gpus is compared with nothing/],
    ["num_gpus => 4", /got "=>"/],
    ["num_gpus=[1,2]", /needs the operator in or notin/],
    ["&& num_gpus=1", /expected a field name/],
    ["x".repeat(9000), /longer than 8192/],
  ];
  for (const [text, message] of cases) {
    assert.throws(
      () => read(text),
      (error) => error instanceof AppError && error.kind === "invalid" && message.test(error.publicMessage),
    );
  }
});

test("an empty query asks for nothing in particular", () => {
  assert.deepEqual(parseQueryLanguage("  ", options), { filters: {}, unconstrained: [] });
});
