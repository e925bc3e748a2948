import assert from "node:assert/strict";
import { test } from "node:test";
import { isCloseToItsEnd, renewalAt, retryAt } from "./renewal.ts";
import { covers, parseHostName } from "./names.ts";

const DAY_MS = 86_400_000;
const issuedAt = new Date("2026-01-01T00:00:00Z");
const lifetime = { issuedAt, expiresAt: new Date(issuedAt.getTime() + 90 * DAY_MS) };
const daysOf = (moment: Date) => (moment.getTime() - issuedAt.getTime()) / DAY_MS;

test("a certificate is renewed when a third of its lifetime is left, at moments that differ by name", () => {
  const names = Array.from({ length: 50 }, (_, index) => `gpu${index}.example.com`);
  const days = names.map((name) => daysOf(renewalAt(name, lifetime)));
  assert.ok(days.every((day) => day > 57 - 0.001 && day <= 60));
  assert.equal(new Set(days).size, 50);
  assert.deepEqual(renewalAt("a.example.com", lifetime), renewalAt("a.example.com", lifetime));
});

test("failures in a row wait longer each time, and never more than 14 hours", () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1000].map(
    (count) => retryAt("a.example.com", count, issuedAt).getTime() - issuedAt.getTime(),
  );
  assert.deepEqual(
    waits.toSorted((a, b) => a - b),
    waits,
  );
  assert.ok((waits[0] ?? 0) >= 120_000 && (waits.at(-1) ?? 0) <= 14 * 3_600_000);
});

test("an end is close when a sixth of the lifetime is left", () => {
  assert.equal(isCloseToItsEnd(lifetime, new Date(issuedAt.getTime() + 74 * DAY_MS)), false);
  assert.equal(isCloseToItsEnd(lifetime, new Date(issuedAt.getTime() + 76 * DAY_MS)), true);
});

test("names of hosts are parsed, and anything else is none", () => {
  assert.equal(parseHostName("GPU.Example.com"), "gpu.example.com");
  for (const text of [
    "localhost",
    "192.0.2.7",
    "a..b",
    "-a.example.com",
    "a_b.example.com",
    "*.example.com",
    "a.example.com.",
  ]) {
    assert.equal(parseHostName(text), undefined, text);
  }
  assert.equal(parseHostName(`${"a".repeat(64)}.example.com`), undefined);
});

test("a star stands for one part of a name", () => {
  assert.ok(covers("*.example.com", "a.example.com"));
  for (const host of ["example.com", "a.b.example.com", "aexample.com"])
    assert.equal(covers("*.example.com", host), false, host);
});
