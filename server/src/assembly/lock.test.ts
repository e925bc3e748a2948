import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { lockDataDir } from "./lock.ts";

const LOCK_MODULE = new URL("./lock.ts", import.meta.url).href;

async function temporaryDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), "berth-lock-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** A process of its own that tries the lock, says how that went, and lives until it is killed. */
async function startRival(t: TestContext, directory: string): Promise<{ child: ChildProcess; answer: string }> {
  const script = `
    const { lockDataDir } = await import(${JSON.stringify(LOCK_MODULE)});
    const lock = await lockDataDir(${JSON.stringify(directory)});
    console.log(lock.kind === "held" ? "held by " + lock.holderPid : lock.kind);
    process.stdin.resume();`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const [line]: unknown[] = await once(child.stdout, "data");
  return { child, answer: String(line).trim() };
}

async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

test("exactly one of several processes gets the data directory, and the others learn which", async (t) => {
  const directory = await temporaryDirectory(t);
  const rivals = await Promise.all([1, 2, 3, 4].map(() => startRival(t, directory)));
  const winners = rivals.filter(({ answer }) => answer === "locked");
  assert.equal(winners.length, 1);
  const losers = rivals.filter(({ answer }) => answer === `held by ${winners[0]?.child.pid}`);
  assert.equal(losers.length, 3);
});

test("the lock of a process that was killed with -9 is free at once", async (t) => {
  const directory = await temporaryDirectory(t);
  const first = await startRival(t, directory);
  assert.equal(first.answer, "locked");
  assert.deepEqual(await lockDataDir(directory), { kind: "held", holderPid: first.child.pid });
  await kill(first.child);
  const lock = await lockDataDir(directory);
  assert.equal(lock.kind, "locked");
  if (lock.kind === "locked") await lock.release();
});

test("a released lock can be taken again, and other directories are not concerned", async (t) => {
  const directory = await temporaryDirectory(t);
  for (let round = 0; round < 3; round += 1) {
    const lock = await lockDataDir(directory);
    const other = await lockDataDir(path.join(directory, "other"));
    assert.equal(lock.kind, "locked");
    assert.equal(other.kind, "locked");
    if (lock.kind === "locked") await lock.release();
    if (other.kind === "locked") await other.release();
  }
});

test("two names of one directory are one lock", async (t) => {
  const directory = await temporaryDirectory(t);
  await symlink(directory, `${directory}-link`);
  t.after(() => rm(`${directory}-link`));
  const lock = await lockDataDir(directory);
  assert.deepEqual(await lockDataDir(`${directory}-link`), { kind: "held", holderPid: process.pid });
  if (lock.kind === "locked") await lock.release();
});
