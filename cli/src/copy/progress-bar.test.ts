import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesText, createProgressBar, renderProgress } from "./progress-bar.ts";

const HALF = { bytes: 1_234_000_000, percent: 50, speed: "110.77MB/s", timeLeft: "0:01:07" };

test("a bar says share, bytes, speed and time left on one line, however narrow the terminal", () => {
  assert.equal(renderProgress(HALF, 200), ` 50% ${"█".repeat(20)}${"░".repeat(20)}  1.23 GB  110.77MB/s  01:07 left`);
  assert.equal(renderProgress(HALF, 59), ` 50% ${"█".repeat(10)}${"░".repeat(10)}  1.23 GB  110.77MB/s  01:07 left`);
  const ended = renderProgress({ ...HALF, timeLeft: undefined }, 59);
  assert.equal(
    ended,
    ` 50% ${"█".repeat(10)}${"░".repeat(10)}  1.23 GB  110.77MB/s            `,
    "the bar stays as wide",
  );
  for (const columns of [1, 20, 40, 46, 80, 300]) {
    assert.ok(renderProgress(HALF, columns).length < columns, String(columns));
  }
});

test("the bar is drawn in place at a terminal and never elsewhere", () => {
  for (const isTTY of [true, false]) {
    const written: string[] = [];
    const bar = createProgressBar({ isTTY, columns: 60, write: (text) => written.push(text) });
    bar.clear();
    bar.say("Listing files…");
    bar.show(HALF);
    bar.clear();
    bar.clear();
    const lines = written.map((text) => text.replace("\r\u001B[K", "<"));
    assert.deepEqual(lines, isTTY ? ["<Listing files…", `<${renderProgress(HALF, 60)}`, "<"] : []);
  }
});

test("bytes have three digits and a decimal unit", () => {
  for (const [bytes, text] of [
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1.00 kB"],
    [12_345, "12.3 kB"],
    [999_600, "1.00 MB"],
    [123_456_789, "123 MB"],
    [5e15, "5000 TB"],
  ] as const) {
    assert.equal(bytesText(bytes), text);
  }
});
