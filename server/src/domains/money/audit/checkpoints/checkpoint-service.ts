import { createHash } from "node:crypto";
import type { LedgerAccountId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { findNextEventId } from "../../../people/accounts/index.ts";
import { findNextTransferId, listTransferChecksums, sumPosted, type ChecksumPart } from "../../ledger/index.ts";
import { reportOf } from "../checks/contract-audit.ts";
import { compare, instant, type Tally } from "../rules/difference.ts";
import { findLinkHash, findNextLink } from "../facts/fact-store.ts";
import {
  addSealedSums,
  insertSeal,
  listSealedSums,
  listSeals,
  putMarks,
  type AuditMark,
  type AuditSeal,
} from "./checkpoint-store.ts";
import { findNextLineId, listLineChecksums } from "../../charging/for-audit.ts";

const DAY_MS = 86_400_000;
/** Long after the last transaction that began on a day has ended. */
const SETTLED_MS = 3_600_000;

/** The end of the last day (UTC) of which nothing can come any more; undefined when that is sealed. */
export function sealableUntil(now: Date, last: AuditSeal | undefined): Date | undefined {
  const until = new Date(Math.floor((now.getTime() - SETTLED_MS) / DAY_MS) * DAY_MS);
  return last !== undefined && last.untilAt >= until ? undefined : until;
}

/** What a seal will say, with what its transfers made of accounts and where its lines lead. */
export type SealPlan = {
  readonly seal: AuditSeal;
  readonly sums: ReadonlyMap<LedgerAccountId, bigint>;
  readonly marks: readonly AuditMark[];
};

/** Reads what lies between the last seal and a moment, and binds it to all that was sealed before. */
export async function planSeal(
  db: Reader,
  last: AuditSeal | undefined,
  untilAt: Date,
): Promise<Omit<SealPlan, "marks">> {
  const content = await readContent(db, last, untilAt);
  const nextTransferId = await findNextTransferId(db, untilAt, last?.nextTransferId ?? 0n);
  const nextLineId = await findNextLineId(db, untilAt, last?.nextLineId ?? 0n);
  const transfers = { nextId: last?.nextTransferId ?? 0n, from: last?.untilAt, to: untilAt };
  const sums = await sumPosted(db, transfers);
  const nextFactLink = await findNextLink(db, untilAt, last?.nextFactLink ?? 1n);
  const factsSha256 = (await findLinkHash(db, nextFactLink - 1n)) ?? "";
  const nextEventId = await findNextEventId(db, untilAt, last?.nextEventId ?? 1n);
  const chain = { nextFactLink, factsSha256, nextEventId };
  return { seal: { untilAt, nextTransferId, nextLineId, ...content, ...chain }, sums };
}

type Content = Pick<AuditSeal, "transferCount" | "lineCount" | "transfersSha256" | "linesSha256">;

async function readContent(db: Reader, last: AuditSeal | undefined, to: Date): Promise<Content> {
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

/** The checksum of the seal before and of all parts since, so that none can be changed, left out or moved unnoticed. */
function chain(before: string, parts: readonly ChecksumPart[]): string {
  const hash = createHash("sha256").update(`${before}\n`);
  for (const { bucket, count, sha256 } of parts) hash.update(`${bucket} ${count} ${sha256}\n`);
  return hash.digest("hex");
}

/** False when another process sealed the same day. */
export async function storeSeal(tx: Tx, { seal, sums, marks }: SealPlan): Promise<boolean> {
  if (!(await insertSeal(tx, seal))) return false;
  await addSealedSums(tx, sums);
  await putMarks(tx, marks);
  return true;
}

/** Reads all that was ever sealed and compares it with what the seals say of it. */
export async function verifySeals(db: Reader, tally: Tally): Promise<void> {
  const seals = await listSeals(db);
  tally.examine("seals", seals.length);
  let last: AuditSeal | undefined;
  for (const seal of seals) {
    const content = await readContent(db, last, seal.untilAt);
    const report = reportOf(tally, `seal of ${instant(seal.untilAt)}`);
    compare(report, "seals", "transfers were added or are gone", {
      stored: content.transferCount,
      expected: seal.transferCount,
    });
    compare(report, "seals", "lines were added or are gone", { stored: content.lineCount, expected: seal.lineCount });
    compare(report, "seals", "transfers were changed", {
      stored: content.transfersSha256,
      expected: seal.transfersSha256,
    });
    compare(report, "seals", "lines were changed", { stored: content.linesSha256, expected: seal.linesSha256 });
    // Each seal is judged by what the one before it says, so that one change is not reported for all days after it.
    last = seal;
  }
  if (last === undefined) return;
  const sums = await sumPosted(db, { nextId: 0n, from: undefined, to: last.untilAt });
  const sealed = await listSealedSums(db);
  for (const accountId of new Set([...sums.keys(), ...sealed.keys()])) {
    compare(reportOf(tally, `account ${accountId}`), "seals", "its sealed sum is not that of its transfers", {
      stored: sealed.get(accountId) ?? 0n,
      expected: sums.get(accountId) ?? 0n,
    });
  }
}
