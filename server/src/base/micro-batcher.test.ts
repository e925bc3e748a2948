import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { MicroBatcher } from "./micro-batcher.ts";

/** A batcher whose calls end only when the test says so. */
function controlled(maxBatch = 100) {
  const calls: { readonly batch: readonly number[]; readonly end: (error?: Error) => void }[] = [];
  const batcher = new MicroBatcher<number, string>({
    maxBatch,
    run: (batch) =>
      new Promise((resolve, reject) => {
        const answer = () => resolve(batch.map((request) => `done ${request}`));
        calls.push({ batch, end: (error) => (error ? reject(error) : answer()) });
      }),
  });
  return { batcher, calls };
}

test("a lone request goes at once", async () => {
  const { batcher, calls } = controlled();
  const response = batcher.submit(1);
  assert.deepEqual(calls[0]?.batch, [1]);
  calls[0]?.end();
  assert.equal(await response, "done 1");
});

test("requests that arrive during a call go together in the next one, in order", async () => {
  const { batcher, calls } = controlled();
  const responses = [1, 2, 3, 4].map((request) => batcher.submit(request));
  assert.equal(calls.length, 1);
  calls[0]?.end();
  await new Promise(setImmediate);
  assert.deepEqual(calls[1]?.batch, [2, 3, 4]);
  calls[1]?.end();
  assert.deepEqual(await Promise.all(responses), ["done 1", "done 2", "done 3", "done 4"]);
});

test("no batch is larger than the limit", async () => {
  const sizes: number[] = [];
  const batcher = new MicroBatcher<number, number>({
    maxBatch: 3,
    run: async (batch) => {
      sizes.push(batch.length);
      return batch;
    },
  });
  const requests = Array.from({ length: 11 }, (_, index) => index);
  assert.deepEqual(await Promise.all(requests.map((request) => batcher.submit(request))), requests);
  assert.deepEqual(sizes, [1, 3, 3, 3, 1]);
});

test("one request that cannot be done fails alone", async () => {
  const poisoned = 3;
  const batcher = new MicroBatcher<number, number>({
    maxBatch: 100,
    run: async (batch) => {
      if (batch.includes(poisoned)) throw new Error("poisoned");
      return batch;
    },
  });
  const settled = await Promise.allSettled([1, 2, 3, 4].map((request) => batcher.submit(request)));
  assert.deepEqual(
    settled.map(({ status }) => status),
    ["fulfilled", "fulfilled", "rejected", "fulfilled"],
  );
});

test("a lone request that fails is not tried again", async () => {
  const { batcher, calls } = controlled();
  const response = batcher.submit(1);
  calls[0]?.end(new Error("no"));
  await assert.rejects(response, /no/);
  assert.equal(calls.length, 1);
});

test("a batch that answers too little is a failure, not a silence", async () => {
  const batcher = new MicroBatcher<number, number>({ maxBatch: 10, run: async () => [] });
  await assert.rejects(batcher.submit(1), /answers each/);
});

test("a batcher goes on after a failure", async () => {
  let isBroken = true;
  const batcher = new MicroBatcher<number, number>({
    maxBatch: 10,
    run: async (batch) => {
      if (isBroken) throw new Error("broken");
      return batch;
    },
  });
  await assert.rejects(batcher.submit(1));
  isBroken = false;
  assert.equal(await batcher.submit(2), 2);
});

test("idle waits for what is under way and for what waits behind it", async () => {
  const { batcher, calls } = controlled();
  void batcher.submit(1);
  void batcher.submit(2);
  let isIdle = false;
  const idle = batcher.idle().then(() => (isIdle = true));
  calls[0]?.end();
  await new Promise(setImmediate);
  assert.equal(isIdle, false);
  calls[1]?.end();
  await idle;
  await batcher.idle();
});

test("every request gets its own answer, in any order of arrivals and failures", async () => {
  const plan = fc.array(fc.record({ isPoisoned: fc.boolean(), isApart: fc.boolean() }), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(plan, fc.integer({ min: 1, max: 7 }), async (requests, maxBatch) => {
      const done: number[] = [];
      const batcher = new MicroBatcher<number, number>({
        maxBatch,
        run: async (batch) => {
          await new Promise(setImmediate);
          if (batch.some((index) => requests[index]?.isPoisoned)) throw new Error("poisoned");
          done.push(...batch);
          return batch.map((index) => index * 2);
        },
      });
      const responses: Promise<number>[] = [];
      for (const [index, { isApart }] of requests.entries()) {
        if (isApart) await new Promise(setImmediate);
        const response = batcher.submit(index);
        response.catch(() => {}); // Looked at below; until then it must not count as unhandled.
        responses.push(response);
      }
      const settled = await Promise.allSettled(responses);
      settled.forEach((result, index) => {
        if (requests[index]?.isPoisoned) assert.equal(result.status, "rejected");
        else assert.deepEqual(result, { status: "fulfilled", value: index * 2 });
      });
      const good = [...requests.keys()].filter((index) => !requests[index]?.isPoisoned);
      assert.deepEqual(done, good);
    }),
  );
});

test("a batcher that gathers takes everything that came until its wait is over, and goes on gathering", async () => {
  const batches: (readonly number[])[] = [];
  const waits: (() => void)[] = [];
  const batcher = new MicroBatcher<number, number>({
    maxBatch: 100,
    gather: () => new Promise((resolve) => waits.push(resolve)),
    run: async (batch) => {
      batches.push(batch);
      return batch;
    },
  });
  const first = [batcher.submit(1), batcher.submit(2)];
  assert.deepEqual(batches, []);
  first.push(batcher.submit(3));
  waits.shift()?.();
  assert.deepEqual(await Promise.all(first), [1, 2, 3]);
  const last = batcher.submit(4);
  await new Promise(setImmediate);
  assert.deepEqual(batches, [[1, 2, 3]]);
  waits.shift()?.();
  assert.equal(await last, 4);
  await batcher.idle();
});
