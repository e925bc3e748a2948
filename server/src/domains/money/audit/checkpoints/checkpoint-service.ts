import { createHash } from "node:crypto";
import type { LedgerAccountId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { findNextEventId } from "../../../people/accounts/for-audit.ts";
import { findNextTransferId, listTransferChecksums, sumPosted, type ChecksumPart } from "../../ledger/for-audit.ts";
import { reportOf } from "../checks/contract-audit.ts";
import { compare, instant, type Tally } from "../rules/difference.ts";
import { findLinkHash, findNextLink } from "../../../../db/fact-store.ts";
import {
  addCheckpointSums,
  insertCheckpoint,
  listCheckpointSums,
  listCheckpoints,
  putMarks,
  type AuditMark,
  type Checkpoint,
} from "./checkpoint-store.ts";
import { findNextLineId, listLineChecksums } from "../../charging/for-audit.ts";

const DAY_MS = 86_400_000;
/** Time after midnight by which every transaction that began on the day before has ended. */
const SETTLED_MS = 3_600_000;

/** The end of the last day (UTC) whose transactions have all ended; undefined when a checkpoint covers that day. */
export function nextCheckpointEnd(now: Date, last: Checkpoint | undefined): Date | undefined {
  const until = new Date(Math.floor((now.getTime() - SETTLED_MS) / DAY_MS) * DAY_MS);
  return last !== undefined && last.untilAt >= until ? undefined : until;
}

/**
 * A checkpoint to store, with the sums that its transfers add to accounts and the marks that its charge lines reach.
 */
export type CheckpointPlan = {
  readonly checkpoint: Checkpoint;
  readonly sums: ReadonlyMap<LedgerAccountId, bigint>;
  readonly marks: readonly AuditMark[];
};

/** Reads what lies between the last checkpoint and `untilAt`, and chains it to all earlier checkpoints. */
export async function planCheckpoint(
  db: Reader,
  last: Checkpoint | undefined,
  untilAt: Date,
): Promise<Omit<CheckpointPlan, "marks">> {
  const content = await readContent(db, last, untilAt);
  const nextTransferId = await findNextTransferId(db, untilAt, last?.nextTransferId ?? 0n);
  const nextLineId = await findNextLineId(db, untilAt, last?.nextLineId ?? 0n);
  const transfers = { nextId: last?.nextTransferId ?? 0n, from: last?.untilAt, to: untilAt };
  const sums = await sumPosted(db, transfers);
  const nextFactLink = await findNextLink(db, untilAt, last?.nextFactLink ?? 1n);
  const factsSha256 = (await findLinkHash(db, nextFactLink - 1n)) ?? "";
  const nextEventId = await findNextEventId(db, untilAt, last?.nextEventId ?? 1n);
  const chain = { nextFactLink, factsSha256, nextEventId };
  return { checkpoint: { untilAt, nextTransferId, nextLineId, ...content, ...chain }, sums };
}

type Content = Pick<Checkpoint, "transferCount" | "lineCount" | "transfersSha256" | "linesSha256">;

async function readContent(db: Reader, last: Checkpoint | undefined, to: Date): Promise<Content> {
  const from = last?.untilAt;
  const transfers = await listTransferChecksums(db, { nextId: last?.nextTransferId ?? 0n, from, to });
  const lines = await listLineChecksums(db, { nextId: last?.nextLineId ?? 0n, from, to });
  return {
    transferCount: countOf(transfers),
    lineCount: countOf(lines),
    transfersSha256: chain(last?.transfersSha256 ?? "", transfers),
    linesSha256: chain(last?.linesSha256 ?? "", lines),
  };
}

function countOf(parts: readonly ChecksumPart[]): bigint {
  return parts.reduce((sum, { count }) => sum + BigInt(count), 0n);
}

/** Hashes the previous checksum and all parts since it, so that no part can be changed, left out or moved unnoticed. */
function chain(before: string, parts: readonly ChecksumPart[]): string {
  const hash = createHash("sha256").update(`${before}\n`);
  for (const { bucket, count, sha256 } of parts) hash.update(`${bucket} ${count} ${sha256}\n`);
  return hash.digest("hex");
}

/** Stores a checkpoint with its sums and marks; false when another process stored one for the same day. */
export async function storeCheckpoint(tx: Tx, { checkpoint, sums, marks }: CheckpointPlan): Promise<boolean> {
  if (!(await insertCheckpoint(tx, checkpoint))) return false;
  await addCheckpointSums(tx, sums);
  await putMarks(tx, marks);
  return true;
}

/** Reads all transfers and charge lines that checkpoints cover, and compares them with what the checkpoints say. */
export async function verifyCheckpoints(db: Reader, tally: Tally): Promise<void> {
  const checkpoints = await listCheckpoints(db);
  tally.examine("seals", checkpoints.length);
  let last: Checkpoint | undefined;
  for (const checkpoint of checkpoints) {
    const content = await readContent(db, last, checkpoint.untilAt);
    const report = reportOf(tally, `checkpoint of ${instant(checkpoint.untilAt)}`);
    compare(report, "seals", "transfers were added or are gone", {
      stored: content.transferCount,
      expected: checkpoint.transferCount,
    });
    compare(report, "seals", "lines were added or are gone", {
      stored: content.lineCount,
      expected: checkpoint.lineCount,
    });
    compare(report, "seals", "transfers were changed", {
      stored: content.transfersSha256,
      expected: checkpoint.transfersSha256,
    });
    compare(report, "seals", "lines were changed", { stored: content.linesSha256, expected: checkpoint.linesSha256 });
    // Each checkpoint is compared with what the one before it says, so that one change is not reported for all later
    // days.
    last = checkpoint;
  }
  if (last === undefined) return;
  const sums = await sumPosted(db, { nextId: 0n, from: undefined, to: last.untilAt });
  const inCheckpoints = await listCheckpointSums(db);
  for (const accountId of new Set([...sums.keys(), ...inCheckpoints.keys()])) {
    compare(
      reportOf(tally, `account ${accountId}`),
      "seals",
      "its sum in the checkpoints is not that of its transfers",
      {
        stored: inCheckpoints.get(accountId) ?? 0n,
        expected: sums.get(accountId) ?? 0n,
      },
    );
  }
}
