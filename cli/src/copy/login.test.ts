import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import type { Timer } from "../../../sdk/src/timer.ts";
import { untilLetIn } from "./login.ts";

const LIMIT_MS = 60_000;
const LOGIN = { user: "copier", host: "192.0.2.1", sshOptions: ["-p", "22"] };
const { signal: NEVER } = new AbortController();

/** Puts this script in the place of ssh for the test, and returns the times that it was started. */
function anSsh(t: TestContext, script: string): () => number {
  const folder = mkdtempSync(path.join(tmpdir(), "berth-cli-login-"));
  const before = process.env["PATH"];
  process.env["PATH"] = `${folder}:${before ?? ""}`;
  t.after(() => {
    process.env["PATH"] = before;
    rmSync(folder, { recursive: true });
  });
  writeFileSync(path.join(folder, "ssh"), `#!/bin/sh\necho started >> '${folder}/starts'\n${script}\n`);
  chmodSync(path.join(folder, "ssh"), 0o755);
  return () => readFileSync(path.join(folder, "starts"), "utf8").trimEnd().split("\n").length;
}

/** A timer whose waits between attempts take no time, and whose limit comes when the test says so. */
function aTimer(): { readonly timer: Timer; readonly tooLate: () => void; readonly waits: number[] } {
  const limit = Promise.withResolvers<void>();
  const waits: number[] = [];
  const sleep = async (ms: number) => {
    if (ms === LIMIT_MS) return limit.promise;
    waits.push(ms);
  };
  return { timer: { sleep }, tooLate: limit.resolve, waits };
}

test("a login is tried again until ssh gets in, and the refusal of a command counts as a login", async (t) => {
  const starts = anSsh(t, 'if [ "$(wc -l < "$(dirname "$0")/starts")" -lt 3 ]; then exit 255; fi; exit 1');
  const { timer, waits } = aTimer();
  await untilLetIn(LOGIN, NEVER, timer);
  assert.deepEqual([starts(), waits.length], [3, 2]);
});

test("an ssh that hangs is ended at the limit of all attempts, and the command says that nobody is let in", async (t) => {
  anSsh(t, "exec sleep 600");
  const { timer, tooLate } = aTimer();
  const ended = untilLetIn(LOGIN, NEVER, timer);
  tooLate();
  await assert.rejects(ended, { message: "The instance lets nobody in: ssh has no answer." });
});

test("a login that is always refused ends after some attempts with the words of ssh", async (t) => {
  const starts = anSsh(t, "echo 'Permission denied (publickey).' >&2; exit 255");
  const ended = untilLetIn(LOGIN, NEVER, aTimer().timer);
  await assert.rejects(ended, /lets nobody in: Permission denied \(publickey\)\./);
  assert.equal(starts(), 40);
});

test("an interrupt ends an ssh that hangs at once, without a complaint", async (t) => {
  anSsh(t, "exec sleep 600");
  const over = new AbortController();
  const ended = untilLetIn(LOGIN, over.signal, aTimer().timer);
  over.abort("SIGTERM");
  await ended;
});
