// Compares rows with the facts of who made them, and facts with their rows (docs/adr/0030-facts-of-money.md).
import { NO_HEAD, type FactHead } from "../../../../base/facts.ts";
import type { Reader } from "../../../../db/transaction.ts";
import {
  listEventBuckets,
  listEventIds,
  listEventTexts,
  listToldTransferBuckets,
  listToldTransferIds,
  listToldTransfers,
} from "../../../people/accounts/for-audit.ts";
import { listMovedBuckets, listMovedIds, listStatedTransfers } from "../../ledger/for-audit.ts";
import { walkChain, type Walked } from "./chain-walk.ts";
import type { FactAudit, FactOrigin } from "./fact-audit-types.ts";
import { auditStates } from "./fact-states.ts";
import {
  findLinkHash,
  listFactBuckets,
  listFactIds,
  listLastFacts,
  type LinkRange,
  type ReadLink,
} from "../../../../db/fact-store.ts";
import { differenceOf, readFact, saysOf, transferText, whoAndWhen, type ReadFact } from "./rules/fact-rules.ts";
import { differingBuckets, pairIds } from "../checks/mismatches.ts";

const EVENTS_PER_PAGE = 5_000;

export async function auditFacts(audit: FactAudit): Promise<void> {
  const { db, tally, trusted } = audit;
  const range: LinkRange = { nextLink: trusted?.nextFactLink ?? 1n, from: trusted?.untilAt };
  const number = range.nextLink - 1n;
  const before = trusted === undefined ? NO_HEAD : { number, sha256: trusted.factsSha256 };
  await checkBefore(audit, before);
  const walked = await walkChain({ ...audit, before }, (link) => auditLink(audit, range, link));
  tally.examine("facts", walked.linkCount);
  const origin = await readOrigin(db);
  await auditMoved(audit, { range, origin, walked });
  await auditEvents(audit, { range, origin, walked });
  await auditStates(audit, { range, origin });
}

/** Checks that the link before the checkpoint is the one that it names. */
async function checkBefore({ db, tally }: FactAudit, { number, sha256 }: FactHead): Promise<void> {
  if (number === 0n) return;
  const stored = (await findLinkHash(db, number)) ?? "none";
  if (stored === sha256) return;
  const problem = "it is another link: the last checkpoint names another hash";
  tally.differ("facts", { subject: `link ${number}`, problem, stored, expected: sha256 });
}

async function readOrigin(db: Reader): Promise<FactOrigin> {
  const text = (await listLastFacts(db, "origin")).get("1");
  const fact = (text === undefined ? undefined : readFact(text)) ?? {};
  const numberOf = (name: string) => Number(Reflect.get(fact, name) ?? 0);
  const checkpointUntil: unknown = Reflect.get(fact, "sealed_until");
  return {
    nextTransferId: BigInt(numberOf("next_transfer_id")),
    nextCapId: numberOf("next_cap_id"),
    nextPayoutId: numberOf("next_payout_id"),
    nextPayoutHoldId: numberOf("next_payout_hold_id"),
    nextEventId: BigInt(numberOf("next_audit_event_id")),
    invoiceCount: numberOf("invoice_count"),
    checkpointUntil: typeof checkpointUntil === "string" ? new Date(checkpointUntil).toISOString() : undefined,
  };
}

/** Compares the facts of one link with their rows: transfers, and events of the audit log. */
async function auditLink({ db, tally, signer }: FactAudit, range: LinkRange, link: ReadLink): Promise<void> {
  if (range.from !== undefined && link.madeAt < range.from) return;
  const facts = link.texts.flatMap((text) => readFact(text) ?? []);
  const transfers = facts.filter(({ kind }) => kind === "transfer");
  const events = facts.filter(({ kind }) => kind === "audit_event");
  tally.examine("facts", facts.length);
  if (transfers.length > 0) {
    const rows = await listStatedTransfers(db, idsOf(transfers));
    for (const fact of transfers) {
      const row = rows.get(fact.subject);
      const difference =
        row === undefined
          ? goneOf(`transfer ${fact.subject}`, fact, transferOf(fact))
          : differenceOf(`transfer ${fact.subject}`, fact, saysOf(row));
      if (difference !== undefined) tally.differ("facts", difference);
    }
  }
  if (events.length === 0) return;
  const said = await listEventTexts(db, idsOf(events));
  for (const fact of events) {
    const subject = `audit event ${fact.subject}`;
    const action = `${String(fact["action"])} of user ${String(fact["user"])}`;
    const text = said.get(fact.subject);
    if (text === undefined) tally.differ("facts", goneOf(subject, fact, action));
    else if (signer.digest(text) !== fact["row"]) {
      const problem = `it was changed: it is not what was noted ${whoAndWhen(fact)}`;
      tally.differ("facts", { subject, problem, stored: text, expected: action });
    }
  }
}

function transferOf(fact: ReadFact): string {
  const { code, amount, from, to } = fact;
  return transferText({ code, amount, from, to });
}

/** The difference for a fact whose row is gone. */
function goneOf(subject: string, fact: ReadFact, what: string) {
  return { subject, problem: `it is gone: it was made ${whoAndWhen(fact)}`, stored: "none", expected: what };
}

function idsOf(facts: readonly ReadFact[]): readonly bigint[] {
  return facts.flatMap(({ subject }) => (/^\d{1,18}$/.test(subject) ? [BigInt(subject)] : []));
}

type Read = { readonly range: LinkRange; readonly origin: FactOrigin; readonly walked: Walked };

/** Finds transfers without a request: each transfer other than usage has one fact. */
async function auditMoved({ db, tally, trusted }: FactAudit, { range, origin, walked }: Read): Promise<void> {
  const nextId = later(trusted?.nextTransferId, origin.nextTransferId);
  const moved = { nextId, from: trusted?.untilAt, to: undefined };
  const stored = await listMovedBuckets(db, moved);
  for (const bucket of differingBuckets(stored, await listFactBuckets(db, "transfer", range))) {
    const pairs = pairIds(await listMovedIds(db, moved, bucket), await listFactIds(db, "transfer", range, bucket));
    const unnamed = pairs.filter(({ isTransfer }) => isTransfer);
    const rows = await listStatedTransfers(
      db,
      unnamed.map(({ id }) => id),
    );
    for (const { id, lineCount } of unnamed) {
      const row = rows.get(String(id));
      if (row === undefined || walked.brokenAtMs.has(row.createdAt.getTime())) continue;
      tally.differ("facts", {
        subject: `transfer ${id}`,
        problem: lineCount === 0 ? "nobody asked for it: it has no fact" : `it has ${lineCount} facts`,
        stored: transferText({ ...row, amount: row.amountNanos }),
        expected: lineCount === 0 ? "no such transfer" : "one fact",
      });
    }
  }
}

/** Compares the audit log with the facts, and with the credit transfers, whose events the database writes. */
async function auditEvents(audit: FactAudit, read: Read): Promise<void> {
  const { db, tally, trusted } = audit;
  const { range, origin, walked } = read;
  const events = { nextId: later(trusted?.nextEventId, origin.nextEventId), from: trusted?.untilAt };
  const stored = await listEventBuckets(db, events);
  for (const bucket of differingBuckets(stored, await listFactBuckets(db, "audit_event", range))) {
    const pairs = pairIds(await listEventIds(db, events, bucket), await listFactIds(db, "audit_event", range, bucket));
    const texts = await listEventTexts(
      db,
      pairs.filter(({ isTransfer }) => isTransfer).map(({ id }) => id),
    );
    for (const [id, text] of texts) {
      if ([...walked.brokenAtMs].some((ms) => text.includes(new Date(ms).toISOString()))) continue;
      const problem = "nobody did this: it has no fact";
      tally.differ("facts", { subject: `audit event ${id}`, problem, stored: text, expected: "no such event" });
    }
  }
  const nextId = later(trusted?.nextTransferId, origin.nextTransferId);
  const moved = { nextId, from: trusted?.untilAt, to: undefined, code: "credit_transfer" };
  for (const bucket of differingBuckets(await listMovedBuckets(db, moved), await listToldTransferBuckets(db, events))) {
    for (const { id, lineCount, isTransfer } of pairIds(
      await listMovedIds(db, moved, bucket),
      await listToldTransferIds(db, events, bucket),
    )) {
      if (!isTransfer || lineCount > 0) continue;
      const problem = "the audit log of its user does not mention it any more";
      tally.differ("facts", { subject: `transfer ${id}`, problem, stored: "no event", expected: "one event" });
    }
  }
  await auditToldTransfers(audit, events);
}

/** Compares the account of a credit transfer in the audit log with the cause of the transfer. */
async function auditToldTransfers(
  { db, tally }: FactAudit,
  events: { readonly nextId: bigint; readonly from: Date | undefined },
): Promise<void> {
  for (let after = 0n; ;) {
    const page = await listToldTransfers(db, events, { after, limit: EVENTS_PER_PAGE });
    const known = page.flatMap(({ transferId }) => (/^\d{1,18}$/.test(transferId) ? [BigInt(transferId)] : []));
    const rows = await listStatedTransfers(db, known);
    for (const { id, userId, apiKeyId, ipAddress, transferId, createdAt } of page) {
      const transfer = rows.get(transferId);
      const cause = transfer?.cause ?? {};
      const sender = cause["actor_id"] ?? Number(/(\d+)$/.exec(transfer?.from ?? "")?.[1]);
      const says = [userId, apiKeyId, ipAddress, createdAt.toISOString()].join(" ");
      const wanted = [sender, cause["api_key_id"], cause["ip_address"] ?? "", transfer?.createdAt.toISOString()];
      if (transfer?.code === "credit_transfer" && says === wanted.join(" ")) continue;
      tally.differ("facts", {
        subject: `audit event ${id}`,
        problem: `it describes transfer ${transferId} differently from the transfer itself`,
        stored: says,
        expected: transfer === undefined ? "no such event" : wanted.join(" "),
      });
    }
    const last = page.at(-1);
    if (last === undefined || page.length < EVENTS_PER_PAGE) return;
    after = last.id;
  }
}

function later(one: bigint | undefined, other: bigint): bigint {
  return one !== undefined && one > other ? one : other;
}
