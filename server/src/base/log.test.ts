import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog } from "./log.ts";
import { MicroBatcher } from "./micro-batcher.ts";
import { runFor } from "./request-context.ts";

type Line = { readonly [key: string]: unknown };

/** The lines that `write` logs, parsed. */
function linesOf(write: (log: ReturnType<typeof createLog>) => void): readonly (Line & { readonly text: string })[] {
  const lines: string[] = [];
  write(createLog("info", { write: (line) => void lines.push(line) }));
  return lines.map((text) => ({ ...JSON.parse(text), text }));
}

test("a logged error has its type, message, stack and code, and those of its causes", () => {
  const cause = Object.assign(new RangeError("the disk is full"), { code: "53100", table: "instances" });
  const [line] = linesOf((log) => log.error({ err: new TypeError("no answer", { cause }) }, "failed"));
  assert.ok(line !== undefined);
  const { stack, cause: logged, ...rest } = line["err"] as Line;
  assert.deepEqual(rest, { type: "TypeError", message: "no answer" });
  assert.match(String(stack), /log\.test\.ts/);
  const { stack: causeStack, ...causeRest } = logged as Line;
  assert.deepEqual(causeRest, { type: "RangeError", message: "the disk is full", code: "53100", table: "instances" });
  assert.match(String(causeStack), /log\.test\.ts/);
});

test("objects that a library hangs on an error, and rows that PostgreSQL quotes, never reach a log line", () => {
  const hung = { client: { statements: "planted" }, detail: "Failing row contains (planted).", config: ["planted"] };
  const error = Object.assign(new Error("broke"), hung);
  const lines = linesOf((log) => {
    log.error(error);
    log.error({ err: error }, "failed");
    log.error({ problem: error }, "failed");
    log.child({ part: "test" }).error({ err: new Error("outer", { cause: error }) }, "failed");
    log.error({ err: new AggregateError([error], "all failed") }, "failed");
  });
  assert.equal(lines.length, 5);
  for (const { text } of lines) {
    assert.doesNotMatch(text, /planted/);
    assert.match(text, /"message":"broke"/);
  }
});

test("errors that cause each other, or are very long, are logged in a short line", () => {
  const first = new Error("a".repeat(1_000_000));
  first.cause = new Error("second", { cause: first });
  const [line] = linesOf((log) => log.error({ err: first }, "failed"));
  assert.ok(line !== undefined && line.text.length < 50_000);
});

test("a line names the request that the code works for, also after a wait, and a batch for several names none", async () => {
  const identity = undefined;
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => void lines.push(line) });
  const batcher = new MicroBatcher<string, string>({
    maxBatch: 2,
    run: async (batch) => {
      log.info("batch");
      return batch;
    },
  });
  const handle = async (requestId: string) => {
    const context = { requestId, identity, instanceId: 77, isRecorded: false };
    await runFor(context, async () => {
      await new Promise(setImmediate);
      log.info({ user_id: 8 }, requestId);
      await batcher.submit(requestId);
    });
  };
  await Promise.all([handle("a-1"), handle("a-2")]);
  log.info("loop");
  const shown = lines.map((line) => {
    const { msg, request_id: id, user_id: user, instance_id: instance } = JSON.parse(line) as Line;
    return [msg, id, user, instance];
  });
  for (const id of ["a-1", "a-2"])
    assert.deepEqual(
      shown.filter(([msg]) => msg === id),
      [[id, id, 8, 77]],
    );
  assert.deepEqual(
    shown
      .filter(([msg]) => msg !== "a-1" && msg !== "a-2")
      .flatMap((line) => line.slice(1))
      .filter(Boolean),
    [],
  );
});
