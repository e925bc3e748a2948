import assert from "node:assert/strict";
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { writeSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { createLog } from "../../base/log.ts";
import { openLogFile } from "./log-file.ts";

const ELEVEN_MEGABYTES = Buffer.alloc(11 * 1024 * 1024, "x");
const log = createLog("silent");

async function logPath(t: TestContext): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), "berth-log-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return path.join(directory, "postgres.log");
}

test("a log that has grown past its limit is put aside at the start, replacing the one before", async (t) => {
  const file = await logPath(t);
  await writeFile(file, ELEVEN_MEGABYTES);
  await writeFile(`${file}.1`, "older");
  const opened = await openLogFile(file, systemClock, log);
  await opened.close();
  assert.equal((await stat(file)).size, 0);
  assert.equal((await stat(`${file}.1`)).size, ELEVEN_MEGABYTES.length);
});

test("a log that grows while it is open is put aside at the next look, and its writer goes on at the new end", async (t) => {
  const file = await logPath(t);
  let look = () => {};
  const clock = { ...systemClock, every: (_ms: number, run: () => void) => ((look = run), () => {}) };
  const opened = await openLogFile(file, clock, log);
  await appendFile(file, ELEVEN_MEGABYTES);
  look();
  while ((await stat(file)).size > 0) await systemClock.sleep(1);
  writeSync(opened.fd, "after\n");
  await opened.close();
  assert.equal(await readFile(file, "utf8"), "after\n");
});

test("the tail holds what was written since the file was opened, and of that the end", async (t) => {
  const file = await logPath(t);
  await writeFile(file, "an earlier run\n");
  const opened = await openLogFile(file, systemClock, log);
  writeSync(opened.fd, "this run\n");
  assert.equal(await opened.tail(), "this run");
  writeSync(opened.fd, `${"y".repeat(10_000)}\nthe end\n`);
  const tail = await opened.tail();
  assert.ok(tail.endsWith("the end") && tail.length < 5_000);
  await opened.close();
});
