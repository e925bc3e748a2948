import { FactKeeper, FactWitness, NO_HEAD } from "../../../server/src/base/facts.ts";

/** The secret that facts of tests are signed by. */
const TEST_FACT_SECRET = Buffer.alloc(32, "facts of tests");

/** Signs facts, and remembers the head of their chain as long as the test lasts. */
export function aFactKeeper(): FactKeeper {
  return new FactKeeper(new FactWitness(NO_HEAD, async () => {})).useSecret(TEST_FACT_SECRET);
}
