import type { UserId } from "../../../../base/ids.ts";
import type { CapScope } from "../../ledger/index.ts";
import type { Contract } from "../lines/line-store.ts";
import type { Activity } from "../rules/period.ts";
import type { Bill, InstanceFacts } from "./facts.ts";

/** One instance of a batch. */
export type Item = {
  readonly facts: InstanceFacts;
  readonly bill: Bill;
  readonly contract: Contract;
  readonly scopes: readonly CapScope[];
  readonly activity: Activity;
};

/**
 * The hourly cost of each user's whole account, for users read so far. A caller that settles many batches keeps it: a
 * user's instances are in many batches, and each read covers the whole account.
 */
export type Rates = Map<UserId, bigint>;
