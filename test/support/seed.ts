import { randomInt } from "node:crypto";
import fc from "fast-check";
import { TEST_SEED_VARIABLE } from "../../tools/test-seed.ts";

/** The seed of the random cases of this process: that of the whole run or, where none is given, one of its own. */
export const TEST_SEED = Number(process.env[TEST_SEED_VARIABLE] ?? randomInt(2 ** 31));

// Each process of a test run loads this before its tests, so it reaches every property of theirs.
fc.configureGlobal({ seed: TEST_SEED });
