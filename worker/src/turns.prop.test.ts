import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Turns } from "./turns.ts";

test("no more requests than allowed work at a time, in order of arrival, and one that leaves costs no other its turn", async () => {
  const visitor = fc.record({ leaves: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), fc.array(visitor, { maxLength: 20 }), async (atOnce, visitors) => {
      const turns = new Turns(atOnce);
      const begun: number[] = [];
      const waits = visitors.map(({ leaves }, index) => {
        const leaving = new AbortController();
        const wait = turns.take(leaving.signal).then((hasTurn) => {
          if (hasTurn) begun.push(index);
          return hasTurn;
        });
        if (leaves && index >= atOnce) leaving.abort();
        return wait;
      });
      const staying = visitors.flatMap(({ leaves }, index) => (leaves && index >= atOnce ? [] : [index]));
      for (let done = 0; done < staying.length; done += 1) {
        await new Promise(setImmediate);
        assert.deepEqual(begun, staying.slice(0, atOnce + done));
        turns.giveBack();
      }
      const results = await Promise.all(waits);
      assert.deepEqual(
        results.flatMap((hasTurn, index) => (hasTurn ? [index] : [])),
        staying,
      );
    }),
  );
});
