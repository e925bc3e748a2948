import { randomInt } from "node:crypto";
import fc from "fast-check";
import { TEST_SEED_VARIABLE } from "../../tools/test-seed.ts";

/** What this process draws its cases from. It is that of the whole run, or, where that says none, one of its own. */
export const TEST_SEED = Number(process.env[TEST_SEED_VARIABLE] ?? randomInt(2 ** 31));

// Each process of a test run loads this before its tests, so it reaches every property of theirs.
fc.configureGlobal({ seed: TEST_SEED });
