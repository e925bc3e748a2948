import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AppError } from "../../../base/errors.ts";
import {
  isMountPath,
  mergeOptions,
  parseOptions,
  parseOptionString,
  renderOptionString,
  toExtraEnv,
} from "./rules/option-string.ts";
import { textOfAny } from "../../../../../test/support/any-text.ts";

const hostile = fc.constantFrom(
  "-e",
  "-p",
  "-h",
  "-v",
  "-n",
  "--privileged",
  "--gpus",
  "all",
  "--device=/dev/nvidia0",
  "-v=/:/host",
  "/:/host",
  "V.1:/mnt",
  "V.x:/../etc",
  "NVIDIA_VISIBLE_DEVICES=all",
  "'NVIDIA_DRIVER_CAPABILITIES=all'",
  "LD_PRELOAD=/x.so",
  "A=1",
  'B="x y"',
  "80:80/udp",
  "70000:70000",
  "741641:741641",
  "1000000:80",
  '"',
  "'",
  " ",
  "\n",
  "\t",
  "=",
  "\\",
  "\u{1F600}",
);
const texts = fc.oneof(
  fc.array(hostile, { maxLength: 30 }).map((tokens) => tokens.join(" ")),
  fc.array(hostile, { maxLength: 30 }).map((tokens) => tokens.join("")),
  fc.string({ maxLength: 300 }),
  textOfAny({ maxLength: 300 }),
);

function parsed(input: unknown) {
  try {
    return parseOptions(input, "env");
  } catch (error) {
    assert.ok(error instanceof AppError && error.kind === "invalid", String(error));
    return undefined;
  }
}

test("any text reads as well-formed entries of the five kinds only", () => {
  fc.assert(
    fc.property(fc.oneof(texts, fc.dictionary(texts, texts), fc.jsonValue()), (input) => {
      for (const entry of parsed(input) ?? []) {
        switch (entry.kind) {
          case "env":
            assert.match(entry.name, /^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/);
            assert.ok(!/^NVIDIA_(VISIBLE_DEVICES|DRIVER_CAPABILITIES)$/.test(entry.name));
            assert.ok(!entry.value.includes("\0"));
            break;
          case "port":
            assert.ok(entry.container_port >= 1 && entry.container_port <= 999_999);
            assert.ok(entry.container_port <= 65_535 || entry.container_port >= 70_000);
            break;
          case "hostname":
            assert.match(entry.hostname, /^[A-Za-z0-9_.-]{1,63}$/);
            break;
          case "volume":
            assert.match(entry.volume, /^[A-Za-z0-9_.]+$/);
            assert.ok(isMountPath(entry.mount_path));
            break;
          case "network":
            assert.match(entry.network, /^[a-z0-9-]+$/);
            break;
        }
      }
    }),
    { numRuns: 5000 },
  );
});

test("written entries read back the same, whenever they can be written", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const entries = parsed(text);
      const written = entries && renderOptionString(entries);
      if (written !== undefined) assert.deepEqual(parseOptionString(written, "env"), entries);
    }),
    { numRuns: 5000 },
  );
});

test("entries of any string with closed quotes can be written again", () => {
  const value = fc.oneof(
    fc.stringMatching(/^[^\s"'\0]*$/),
    fc.stringMatching(/^[^"\0]*$/).map((text) => `"${text}"`),
    fc.stringMatching(/^[^'\0]*$/).map((text) => `'${text}'`),
  );
  const flags = fc.array(fc.tuple(fc.stringMatching(/^[A-Z]{1,3}$/), value), { maxLength: 8 });
  fc.assert(
    fc.property(flags, (pairs) => {
      const text = pairs.map(([name, quoted]) => `-e ${name}=${quoted}`).join(" ");
      if (!text.isWellFormed()) return;
      const entries = parseOptionString(text, "env");
      const written = renderOptionString(entries);
      assert.ok(written !== undefined);
      assert.deepEqual(parseOptionString(written, "env"), entries);
    }),
  );
});

test("the pairs of an instance record, given as an object, mean the same entries", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const entries = parsed(text);
      if (entries === undefined) return;
      const byPair = parseOptions(Object.fromEntries(toExtraEnv(entries)), "env");
      const sorted = (pairs: typeof entries) => toExtraEnv(pairs).map(String).toSorted();
      assert.deepEqual(sorted(byPair), sorted(entries));
    }),
  );
});

test("in a merge every entry of the request survives and no name stands twice", () => {
  fc.assert(
    fc.property(texts, texts, (left, right) => {
      const [template, request] = [parsed(left), parsed(right)];
      if (template === undefined || request === undefined) return;
      const merged = toExtraEnv(mergeOptions(template, request, "env"));
      const keys = merged.map(([key]) => key);
      assert.equal(new Set(keys).size, keys.length);
      for (const [key, value] of toExtraEnv(request)) assert.ok(merged.some(([k, v]) => k === key && v === value));
      assert.deepEqual(
        keys.slice(0, template.length),
        toExtraEnv(template).map(([key]) => key),
      );
    }),
  );
});
