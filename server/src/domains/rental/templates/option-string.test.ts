import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "../../../base/errors.ts";
import { mergeOptions, parseOptions, renderOptionString, toExtraEnv } from "./rules/option-string.ts";

const read = (input: unknown) => toExtraEnv(parseOptions(input, "env"));
const refusal = (input: unknown): string => {
  try {
    parseOptions(input, "env");
  } catch (error) {
    assert.ok(error instanceof AppError && error.kind === "invalid", String(error));
    assert.equal(error.extra["field"], "env");
    return error.publicMessage;
  }
  return assert.fail("nothing was refused");
};

test("variables, ports, host name, volume and network become entries in their order", () => {
  assert.deepEqual(
    read("-e TZ=UTC -p 8081:8081 -p 8082:8082/udp -h node-1 -v V.881:/mnt/data -v V.my-data:/x -n my-net"),
    [
      ["TZ", "UTC"],
      ["-p 8081:8081", "1"],
      ["-p 8082:8082/udp", "1"],
      ["-h", "node-1"],
      ["-v V.881:/mnt/data", "1"],
      ["-v V.my-data:/x", "1"],
      ["-n my-net", "1"],
    ],
  );
});

test("the object form says the same as the string form", () => {
  const object = { TZ: "UTC", N: 5, B: true, "-p 8081:8081": "1", "-h": "node-1", "-v V.881:/mnt": "1", "-n net": "1" };
  assert.deepEqual(read(object), read("-e TZ=UTC -e N=5 -e B=true -p 8081:8081 -h node-1 -v V.881:/mnt -n net"));
  assert.deepEqual(read({ A: null, "--gpus": "all", "--privileged": "1", B: "" }), [["B", ""]]);
});

test("quotes group and are stripped; other quotes and equal signs belong to the value", () => {
  assert.deepEqual(
    read(`-e A="b c" -e B='d "e" f' -e C={"k":"v"} -e D==x=y -e E= -e F="" -e 'G=h i' -e H=it"'"s -e I="a|b:c=d"`),
    [
      ["A", "b c"],
      ["B", 'd "e" f'],
      ["C", '{"k":"v"}'],
      ["D", "=x=y"],
      ["E", ""],
      ["F", ""],
      ["G", "h i"],
      ["H", `it"'"s`],
      ["I", "a|b:c=d"],
    ],
  );
});

test("blanks may be many, tabs, line ends or backslash line ends", () => {
  assert.deepEqual(read("  -p 22:22 \\\n   -e\tA=1\r\n-e  B=2 \\\n"), [
    ["-p 22:22", "1"],
    ["A", "1"],
    ["B", "2"],
  ]);
});

test("a quote left open runs to the end", () => {
  assert.deepEqual(read('-e A=1 -e B="x y -e C=2'), [
    ["A", "1"],
    ["B", "x y -e C=2"],
  ]);
});

test("later duplicates win at the place of the first", () => {
  assert.deepEqual(read("-e A=1 -e B=2 -e A=3 -h one -h two"), [
    ["A", "3"],
    ["B", "2"],
    ["-h", "two"],
  ]);
});

test("malformed values and unknown options are skipped silently", () => {
  const skipped = [
    "VAR1=value1 VAR2=value2",
    "-e NOVALUE",
    "-e =x",
    "-e A-'B=c",
    "-e",
    "-p 127.0.0.1:80:80",
    "-p 40000-40099:40000-40099/udp",
    "-p 0:80 -p 80:0 -p 80:66000 -p 80:65536 -p 80:69999 -p 1234567:1 -p 1:1000000",
    "-p 80:80/sctp -p : -p tcp -p 1:2:3 -p 80:80/",
    "-h -dash -h a..! -h " + "x".repeat(64),
    "-v /host:/container -v V.1 -v V.1:mnt -v V.1:/ -v V.1:/a/../b -v V.1:/mnt:ro -v V.-a:/mnt -v V.1:/proc/x",
    "-n Upper -n a_b",
    "--gpus all --ipc=host --shm-size=32gb --privileged --device=/dev/sda --cap-add SYS_ADMIN --network host",
    "--env A=1 --volume /:/host --publish 80:80",
    "...",
    '"-e" A=1',
  ];
  for (const text of skipped) assert.deepEqual(read(text), [], text);
});

test("the value of an unknown option is skipped, and a flag after it is read", () => {
  assert.deepEqual(read("--gpus all -e A=1 --name x B=2 -p 80:80"), [
    ["A", "1"],
    ["-p 80:80", "1"],
  ]);
  // A flag takes the next token as its value, as in the published contract's parser.
  assert.deepEqual(read("-e -p 80:80"), []);
});

test("container ports below 65536 and identity ports from 70000 are known by number and protocol", () => {
  const ports = parseOptions("-p 72299:8080 -p 70000:70000 -p 5353:53/udp -p 9000 -p 741641:741641/udp", "env");
  assert.deepEqual(
    ports.map((entry) => (entry.kind === "port" ? [entry.container_port, entry.protocol] : [])),
    [
      [8080, "tcp"],
      [70_000, "tcp"],
      [53, "udp"],
      [9000, "tcp"],
      [741_641, "udp"],
    ],
  );
});

test("no text can name GPUs or driver parts; a preloaded library is allowed", () => {
  assert.deepEqual(
    read(
      "-e NVIDIA_VISIBLE_DEVICES=all -e NVIDIA_DRIVER_CAPABILITIES=all -e NVIDIA_REQUIRE_CUDA=x -e LD_PRELOAD=/x.so " +
        "-e CUDA_VISIBLE_DEVICES=0 -e NVIDIA_API_KEY=k",
    ),
    [
      ["LD_PRELOAD", "/x.so"],
      ["CUDA_VISIBLE_DEVICES", "0"],
      ["NVIDIA_API_KEY", "k"],
    ],
  );
  assert.deepEqual(read({ NVIDIA_VISIBLE_DEVICES: "all" }), []);
});

test("limits are refused and name the entry", () => {
  assert.match(refusal(`-e LONG=${"x".repeat(257)}`), /"LONG" may have 256 characters/);
  assert.match(refusal(`-e ${"N".repeat(257)}=x`), /256 characters each/);
  assert.match(refusal({ LONG: "x".repeat(257) }), /"LONG"/);
  assert.match(refusal("x".repeat(1_048_576)), /32768/);
  assert.match(refusal({ A: "x".repeat(40_000) }), /32768/);
  assert.match(refusal(Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`V${i}`, "x".repeat(200)]))), /32768/);
  const ports = Array.from({ length: 65 }, (_, index) => `-p ${index + 1}:${index + 1}`).join(" ");
  assert.match(refusal(ports), /-p 65:65 is one port more than 64/);
  assert.equal(read("-e OK=" + "x".repeat(256)).length, 1);
});

test("NUL and broken Unicode are refused in every place", () => {
  for (const input of ["-e A=\0", "\0", { A: "\0" }, { "A\0": "x" }]) assert.match(refusal(input), /NUL/);
  assert.match(refusal("-e A=\ud800"), /Unicode/);
});

test("a malformed entry of an object is refused by name", () => {
  assert.match(refusal({ "-p x:y": "1" }), /"-p x:y" is malformed/);
  assert.match(refusal({ "-v /:/host": "1" }), /"-v \/:\/host" is malformed/);
  assert.match(refusal({ "A B": "1" }), /"A B" is malformed/);
  assert.match(refusal({ A: { b: 1 } }), /the value of "A" must be a text/);
  assert.match(refusal([["A", "b"]]), /must be a string/);
  assert.match(refusal(7), /must be a string/);
});

test("a request's entries replace the template's of the same name and follow the others", () => {
  const template = parseOptions("-e A=1 -e B=2 -p 80:80 -h t", "env");
  const request = parseOptions({ B: "9", C: "3", "-p 80:80": "1", "-p 81:80": "1", "-h": "r" }, "env");
  assert.deepEqual(toExtraEnv(mergeOptions(template, request, "env")), [
    ["A", "1"],
    ["B", "9"],
    ["-p 80:80", "1"],
    ["-h", "r"],
    ["C", "3"],
    ["-p 81:80", "1"],
  ]);
});

test("a merge may not exceed the limits that each part kept", () => {
  const ports = (from: number) =>
    parseOptions(Array.from({ length: 40 }, (_, index) => `-p ${from + index}:${from + index}`).join(" "), "env");
  assert.throws(() => mergeOptions(ports(100), ports(200), "env"), AppError);
});

test("entries are written as a string that quotes what needs it", () => {
  assert.equal(
    renderOptionString(parseOptions({ A: "b", B: "c d", C: 'e "f"', "-p 1:1": "1", "-h": "n" }, "env")),
    `-e A=b -e B="c d" -e C='e "f"' -p 1:1 -h n`,
  );
  assert.equal(renderOptionString(parseOptions({ A: `it's "x` }, "env")), undefined);
});
