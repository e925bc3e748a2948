import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { conditionsOf, countByCondition, refusalSentence, type Condition } from "./rules/outlook.ts";
import { readNewContent } from "./rules/content.ts";

type Offer = Readonly<Record<string, number>>;
const FIELDS = ["a", "b", "c"] as const;
const offers = fc.array(
  fc.record({
    a: fc.integer({ min: 0, max: 3 }),
    b: fc.integer({ min: 0, max: 3 }),
    c: fc.integer({ min: 0, max: 3 }),
  }),
  { maxLength: 20 },
);
const conditions = fc.uniqueArray(
  fc.record({ field: fc.constantFrom(...FIELDS), wanted: fc.record({ gte: fc.integer({ min: 0, max: 4 }) }) }),
  { selector: ({ field }) => field, maxLength: 3 },
);
const meets = (offer: Offer, { field, wanted }: Condition) => (offer[field] ?? 0) >= Number(wanted["gte"]);

test("each condition says how many offers it refuses, and how many it alone keeps away", () => {
  fc.assert(
    fc.property(offers, conditions, (all, asked) => {
      const count = (query: Readonly<Record<string, unknown>>) =>
        all.filter((offer) =>
          FIELDS.every((field) => {
            const wanted = query[field];
            return wanted === undefined || meets(offer, { field, wanted: wanted as Condition["wanted"] });
          }),
        ).length;
      const counted = countByCondition(asked, "ondemand", count);
      assert.equal(counted.offers, all.length);
      assert.equal(counted.matching, all.filter((offer) => asked.every((one) => meets(offer, one))).length);
      for (const one of asked) {
        const refused = all.filter((offer) => !meets(offer, one));
        const others = asked.filter((other) => other !== one);
        const alone = refused.filter((offer) => others.every((other) => meets(offer, other))).length;
        const shown = counted.refusals.find(({ field }) => field === one.field);
        assert.deepEqual(
          shown && [shown.offers, shown.alone],
          refused.length === 0 ? undefined : [refused.length, alone],
        );
      }
    }),
  );
});

test("conditions are those of the template, of its disk and of the caller, who wins; settings of a search are none", () => {
  const content = readNewContent({
    name: "t",
    image: "a/b",
    recommended_disk_space: 30,
    extra_filters: { cuda_max_good: { gte: 12.4 }, num_gpus: { gte: 4 }, q: { eq: "x" }, limit: { eq: 1 } },
  });
  const wish = { type: "ondemand", gpuCount: 2, gpuName: undefined, diskGb: undefined } as const;
  assert.deepEqual(conditionsOf(content, wish), [
    { field: "cuda_max_good", wanted: { gte: 12.4 } },
    { field: "num_gpus", wanted: { eq: 2 } },
    { field: "disk_space", wanted: { gte: 30 } },
  ]);
  const refusal = { field: "cuda_max_good", wanted: { gte: 12.4 }, offers: 3, alone: 1 };
  assert.equal(refusalSentence(refusal, 9), "3 of 9 offers do not meet: CUDA version is at least 12.4.");
});
