import type { FactHead, FactSigner } from "../../../../base/facts.ts";
import type { Reader } from "../../../../db/transaction.ts";
import type { Checkpoint } from "../checkpoints/checkpoint-store.ts";
import type { Tally } from "../rules/difference.ts";

export type FactAudit = {
  readonly db: Reader;
  readonly tally: Tally;
  readonly signer: FactSigner;
  readonly witnessed: FactHead;
  readonly against: FactHead | undefined;
  /** The checkpoint that binds everything before it; undefined in a full audit. */
  readonly trusted: Checkpoint | undefined;
};

/** The first ids that must have facts: older rows are from before the chain and have none. */
export type FactOrigin = {
  readonly nextTransferId: bigint;
  readonly nextCapId: number;
  readonly nextPayoutId: number;
  readonly nextPayoutHoldId: number;
  readonly nextEventId: bigint;
  readonly invoiceCount: number;
  readonly checkpointUntil: string | undefined;
};
