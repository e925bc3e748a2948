// Compares everything that people set with its last fact: caps, payouts, holds on payouts, freezes, invoices and other
// documents, and checkpoints.
import { listStatedFreezes } from "../../../people/accounts/for-audit.ts";
import { ACCOUNT_DOCUMENT_KINDS, listAccountDocumentTexts, listIssuedTexts } from "../../invoices/index.ts";
import { listStatedCaps } from "../../ledger/for-audit.ts";
import { listStatedPayoutHolds, listStatedPayouts, payoutsOf } from "../../payments/for-audit.ts";
import type { FactAudit, FactOrigin } from "./fact-audit-types.ts";
import { differenceOf, dollarsText, readFact, valueText, whoAndWhen, type ReadFact } from "./rules/fact-rules.ts";
import { listFactsSince, listLastFacts, type LinkRange } from "../../../../db/fact-store.ts";
import {
  findLastCheckpoint,
  listCheckpoints,
  listCheckpointsEndingAt,
  checkpointFact,
} from "../checkpoints/checkpoint-store.ts";

type Says = Readonly<Record<string, unknown>>;

export async function auditStates(
  audit: FactAudit,
  { range, origin }: { readonly range: LinkRange; readonly origin: FactOrigin },
): Promise<void> {
  await auditCapLimits(audit, origin);
  await auditPayouts(audit, origin);
  await auditPayoutHolds(audit, origin);
  await auditFreezes(audit);
  await auditIssued(audit, range, origin);
  await auditAccountDocuments(audit, range);
  await auditCheckpointRows(audit, range, origin);
}

/** Compares rows of one kind with the last facts of their ids, in both directions. */
function holdAgainst(
  { tally }: FactAudit,
  {
    noun,
    rows,
    facts,
    isRemoved,
    mayLack,
    describe,
  }: {
    readonly noun: string;
    readonly rows: ReadonlyMap<string, Says>;
    readonly facts: ReadonlyMap<string, string>;
    readonly isRemoved: (fact: ReadFact) => boolean;
    /** True for a row that may have no fact, since it is older than the chain. */
    readonly mayLack: (subject: string) => boolean;
    readonly describe: (says: Says) => string;
  },
): void {
  tally.examine("facts", rows.size);
  for (const [id, says] of rows) {
    const text = facts.get(id);
    const fact = text === undefined ? undefined : readFact(text);
    const subject = `${noun} ${id}`;
    if (fact === undefined) {
      if (mayLack(id)) continue;
      const problem = "nobody made it: it has no fact";
      tally.differ("facts", { subject, problem, stored: describe(says), expected: `no such ${noun}` });
      continue;
    }
    const difference = isRemoved(fact)
      ? {
          subject,
          problem: `it is back: it was removed ${whoAndWhen(fact)}`,
          stored: describe(says),
          expected: "none",
        }
      : differenceOf(subject, fact, says);
    if (difference !== undefined) tally.differ("facts", difference);
  }
  for (const [id, text] of facts) {
    const fact = readFact(text);
    if (rows.has(id) || fact === undefined || isRemoved(fact)) continue;
    const problem = `it is gone: it was made ${whoAndWhen(fact)}`;
    tally.differ("facts", { subject: `${noun} ${id}`, problem, stored: "none", expected: describe(fact) });
  }
}

const never = () => false;

async function auditCapLimits(audit: FactAudit, { nextCapId }: FactOrigin): Promise<void> {
  holdAgainst(audit, {
    noun: "cap",
    rows: await listStatedCaps(audit.db),
    facts: await listLastFacts(audit.db, "cap"),
    isRemoved: (fact) => fact["removed"] === true,
    mayLack: (id) => Number(id) < nextCapId,
    describe: ({ limit, scope, period }) => `limit ${dollarsText(limit)} of ${String(scope)} by ${String(period)}`,
  });
}

async function auditPayouts(audit: FactAudit, { nextPayoutId }: FactOrigin): Promise<void> {
  const { db, trusted } = audit;
  const recent = await listStatedPayouts(db, trusted?.untilAt);
  const subjects = recent.map(({ id }) => String(id));
  // Payouts with facts since the checkpoint that are not among these rows were reset or deleted.
  const range = { nextLink: trusted?.nextFactLink ?? 1n, from: trusted?.untilAt };
  const others = [...(await listFactsSince(db, "payout", range)).keys()].filter((id) => !subjects.includes(id));
  const rows = [...recent, ...(await payoutsOf(db, others.map(Number)))];
  holdAgainst(audit, {
    noun: "payout",
    rows: new Map(rows.map(({ id, says }) => [String(id), says])),
    facts: await listLastFacts(db, "payout", [...subjects, ...others]),
    isRemoved: never,
    mayLack: (id) => Number(id) < nextPayoutId,
    describe: ({ amount, state, user }) => `${dollarsText(amount)} to user ${String(user)}, ${String(state)}`,
  });
}

async function auditPayoutHolds(audit: FactAudit, { nextPayoutHoldId }: FactOrigin): Promise<void> {
  const rows = await listStatedPayoutHolds(audit.db);
  holdAgainst(audit, {
    noun: "payout hold",
    rows: new Map(rows.map(({ id, says }) => [String(id), says])),
    facts: await listLastFacts(audit.db, "payout_hold"),
    isRemoved: never,
    mayLack: (id) => Number(id) < nextPayoutHoldId,
    describe: ({ user, kind_of_hold: kind }) => `${String(kind)} of user ${String(user)}`,
  });
}

/** Compares open freezes with their facts; the account must also be frozen in its own row. */
async function auditFreezes(audit: FactAudit): Promise<void> {
  const rows = await listStatedFreezes(audit.db);
  holdAgainst(audit, {
    noun: "freeze",
    rows: new Map(rows.map(({ id, says }) => [String(id), says])),
    facts: await listLastFacts(audit.db, "freeze"),
    isRemoved: never,
    // Freezes are newer than the chain, so each has a fact.
    mayLack: never,
    describe: ({ user, is_open: isOpen }) => `user ${String(user)}, ${isOpen === true ? "open" : "lifted"}`,
  });
}

/**
 * Compares invoices with their facts. Their numbers have no gaps, so only the facts show that the last ones are
 * missing.
 */
async function auditIssued(audit: FactAudit, range: LinkRange, { invoiceCount }: FactOrigin): Promise<void> {
  const { db, signer, trusted } = audit;
  const facts = await listFactsSince(db, "invoice", range);
  const texts = await listIssuedTexts(db, trusted?.untilAt);
  const rows = [...texts].map(([number, text]) => [number, { row: signer.digest(text) }] as const);
  const isOld = trusted === undefined && invoiceCount > 0;
  holdAgainst(audit, {
    noun: "invoice",
    rows: new Map(rows),
    facts,
    isRemoved: never,
    mayLack: () => isOld,
    describe: ({ user }) => (user === undefined ? "an invoice" : `the invoice of user ${valueText("user", user)}`),
  });
}

/** Compares receipts, statements and credit notes with their facts; they are newer than the chain, so each has one. */
async function auditAccountDocuments(audit: FactAudit, range: LinkRange): Promise<void> {
  const { db, signer, trusted } = audit;
  for (const kind of ACCOUNT_DOCUMENT_KINDS) {
    const noun = kind.replace("_", " ");
    const texts = await listAccountDocumentTexts(db, kind, trusted?.untilAt);
    holdAgainst(audit, {
      noun,
      rows: new Map([...texts].map(([number, text]) => [number, { row: signer.digest(text) }])),
      facts: await listFactsSince(db, kind, range),
      isRemoved: never,
      mayLack: never,
      describe: ({ user }) => (user === undefined ? `a ${noun}` : `the ${noun} of user ${valueText("user", user)}`),
    });
  }
}

/** Compares checkpoints with their facts: a checkpoint decides what an audit does not read. */
async function auditCheckpointRows(audit: FactAudit, range: LinkRange, { checkpointUntil }: FactOrigin): Promise<void> {
  const { db, trusted } = audit;
  const facts = await listFactsSince(db, "seal", range);
  const last = await findLastCheckpoint(db);
  // Checkpoints stored since the last one; one that was stored a day late covers an earlier day.
  const recent = await listCheckpointsEndingAt(db, momentsOf([...facts.keys()]));
  const checkpoints =
    trusted === undefined ? await listCheckpoints(db) : last === undefined ? recent : [...recent, last];
  const rows = checkpoints.map((checkpoint) => [checkpoint.untilAt.toISOString(), checkpointFact(checkpoint)] as const);
  const wanted = new Map(
    trusted === undefined
      ? facts
      : await listLastFacts(
          db,
          "seal",
          rows.map(([id]) => id),
        ),
  );
  if (trusted !== undefined) for (const [id, text] of facts) wanted.set(id, text);
  holdAgainst(audit, {
    noun: "checkpoint",
    rows: new Map(rows),
    facts: wanted,
    isRemoved: never,
    mayLack: (id) => checkpointUntil !== undefined && id <= checkpointUntil,
    describe: ({ transfer_count: count }) => `a checkpoint over ${String(count)} transfers`,
  });
}

function momentsOf(subjects: readonly string[]): readonly Date[] {
  return subjects.map((subject) => new Date(subject)).filter((moment) => !Number.isNaN(moment.getTime()));
}
