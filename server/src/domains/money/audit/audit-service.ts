import type { Clock } from "../../../base/clock.ts";
import type { FactHead, FactSigner } from "../../../base/facts.ts";
import type { Database } from "../../../db/connect.ts";
import { inSnapshot, withTransaction, type Reader } from "../../../db/transaction.ts";
import { listInstancesSince } from "../../rental/instances/for-audit.ts";
import type { AuditedUpTo } from "../ledger/for-audit.ts";
import { listVolumesSince } from "../../supply/volumes/for-audit.ts";
import { auditInstances, auditVolumes, type ContractAudit } from "./checks/contract-audit.ts";
import { auditDays, auditInvoices } from "./checks/day-audit.ts";
import { createTally, type CheckResult } from "./rules/difference.ts";
import { auditFacts } from "./facts/fact-audit.ts";
import { auditAccounts, auditAmounts, auditDeposits, auditPairs, type Ranges } from "./checks/ledger-audit.ts";
import { auditCapLimits } from "./checks/cap-audit.ts";
import { auditPayments } from "./checks/payment-audit.ts";
import { auditArrears, auditFaults } from "./checks/relief-audit.ts";
import { auditReturns } from "./checks/return-audit.ts";
import {
  planCheckpoint,
  nextCheckpointEnd,
  storeCheckpoint,
  verifyCheckpoints,
  type CheckpointPlan,
} from "./checkpoints/checkpoint-service.ts";
import {
  findLastCheckpoint,
  listCheckpointSums,
  type AuditMark,
  type Checkpoint,
} from "./checkpoints/checkpoint-store.ts";
import { auditCaps, auditHolds, auditLeases, auditSchedules } from "./checks/mismatch-audit.ts";
import { listChargedContracts } from "../charging/for-audit.ts";

const DIFFERENCES_KEPT_MAX = 50;

export type AuditReport = {
  readonly isSound: boolean;
  readonly isFull: boolean;
  readonly at: Date;
  /** Earlier audits read everything before this moment; their checkpoints bind it. */
  readonly checkpointUntil: Date | undefined;
  readonly checks: readonly CheckResult[];
};

type Deps = { readonly database: Database; readonly clock: Clock };

/**
 * Recomputes stored amounts from the facts and compares them, in one snapshot, while money moves on. An ordinary audit
 * reads everything after the last checkpoint; a full audit reads everything, checkpoints included.
 */
export async function audit(
  { database, clock }: Deps,
  { isFull, against }: { readonly isFull: boolean; readonly against?: FactHead | undefined },
): Promise<AuditReport> {
  const mode = { isFull, checkpointEnd: undefined, against, ...witnessOf(database) };
  return inSnapshot(database, async (db) => (await auditIn(db, clock.now(), mode)).report);
}

/** The last link of facts that this process knew; read before the snapshot, so that the snapshot must contain it. */
function witnessOf({ facts: { signer, witness } }: Database) {
  return { signer, witnessed: witness.head };
}

export type CheckpointRun = { readonly report: AuditReport; readonly isStored: boolean };

/**
 * Audits all finished days and stores a checkpoint, unless anything differs. Undefined when a checkpoint covers them.
 */
export async function auditAndCheckpoint({ database, clock }: Deps): Promise<CheckpointRun | undefined> {
  const now = clock.now();
  const checkpointEnd = nextCheckpointEnd(now, await findLastCheckpoint(database.kysely));
  if (checkpointEnd === undefined) return undefined;
  const witness = witnessOf(database);
  const { report, plan } = await inSnapshot(database, (db) =>
    auditIn(db, now, { isFull: false, checkpointEnd, against: undefined, ...witness }),
  );
  if (!report.isSound || plan === undefined) return { report, isStored: false };
  return { report, isStored: await withTransaction(database, clock, (tx) => storeCheckpoint(tx, plan)) };
}

type Mode = {
  readonly isFull: boolean;
  readonly checkpointEnd: Date | undefined;
  /** A head of the chain of facts from an earlier export. */
  readonly against: FactHead | undefined;
  readonly signer: FactSigner;
  readonly witnessed: FactHead;
};

async function auditIn(
  db: Reader,
  now: Date,
  { isFull, checkpointEnd, against, signer, witnessed }: Mode,
): Promise<{ readonly report: AuditReport; readonly plan: CheckpointPlan | undefined }> {
  const tally = createTally(DIFFERENCES_KEPT_MAX);
  const lastCheckpoint = await findLastCheckpoint(db);
  const trusted = isFull ? undefined : lastCheckpoint;
  const ranges = rangesAfter(trusted);
  const last: AuditedUpTo | undefined = trusted && {
    at: trusted.untilAt,
    nextId: trusted.nextTransferId,
    posted: await listCheckpointSums(db),
  };
  const marks: AuditMark[] = [];
  await auditAccounts(db, tally, last);
  await auditAmounts(db, tally, ranges);
  await auditPairs(db, tally, ranges);
  await auditDeposits(db, tally, ranges, last);
  await auditPayments(db, tally, ranges);
  await auditReturns(db, tally, ranges);
  await auditFaults(db, tally, ranges);
  await auditArrears(db, tally, ranges);
  await auditDays(db, tally, ranges.lines);
  await auditInvoices(db, tally, ranges.lines);
  await auditContracts(
    {
      db,
      tally,
      isFull,
      range: ranges.lines,
      marksBefore: isFull ? lastCheckpoint?.untilAt : checkpointEnd,
      marked: (mark) => marks.push(mark),
    },
    trusted,
  );
  await auditLeases(db, tally);
  await auditHolds(db, tally);
  await auditSchedules(db, tally, trusted?.untilAt);
  await auditCaps(db, tally, { now, isFull });
  await auditCapLimits(db, tally);
  await auditFacts({ db, tally, signer, witnessed, against, trusted });
  if (isFull) await verifyCheckpoints(db, tally);
  const checks = tally.results();
  const isSound = checks.every(({ differenceCount }) => differenceCount === 0);
  const report = { isSound, isFull, at: now, checkpointUntil: lastCheckpoint?.untilAt, checks };
  if (!isSound || checkpointEnd === undefined) return { report, plan: undefined };
  return { report, plan: { ...(await planCheckpoint(db, lastCheckpoint, checkpointEnd)), marks } };
}

function rangesAfter(checkpoint: Checkpoint | undefined): Ranges {
  const from = checkpoint?.untilAt;
  return {
    transfers: { nextId: checkpoint?.nextTransferId ?? 0n, from, to: undefined },
    lines: { nextId: checkpoint?.nextLineId ?? 0n, from, to: undefined },
  };
}

/**
 * Audits contracts (instances and volumes) that were charged since, or are not over; nothing has changed for the
 * others.
 */
async function auditContracts(contracts: ContractAudit, trusted: Checkpoint | undefined): Promise<void> {
  const { db, range } = contracts;
  const charged = await listChargedContracts(db, range);
  const instanceIds = new Set([...charged.instanceIds, ...(await listInstancesSince(db, trusted?.untilAt))]);
  const volumeIds = new Set([...charged.volumeIds, ...(await listVolumesSince(db, trusted?.untilAt))]);
  contracts.tally.examine("schedules", instanceIds.size + volumeIds.size);
  await auditInstances(
    contracts,
    [...instanceIds].toSorted((a, b) => a - b),
  );
  await auditVolumes(
    contracts,
    [...volumeIds].toSorted((a, b) => a - b),
  );
}
