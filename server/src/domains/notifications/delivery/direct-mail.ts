import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../db/transaction.ts";
import type { LoopStatus } from "../../../base/loop-driver.ts";
import { claimDirectMails, finishDirectMail, insertDirectMail, type ClaimedMail } from "./direct-mail-store.ts";
import { mailTo } from "./rules/mail.ts";
import type { Mailer } from "./mailer.ts";
import { nextAttemptAt, type Outcome } from "./rules/retry.ts";

/** A mail to an address instead of an account: its text may carry a token, which no notification does. */
export type DirectMail = {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** The mail is not sent after this time: its content is outdated then. */
  readonly expiresAt: Date;
};

/** Stores a mail in the caller's transaction; it is sent after the commit. */
export type QueueMail = (tx: Tx, mail: DirectMail) => Promise<void>;

const ENCRYPTION_CONTEXT = "direct mail";
const CLAIM_MS = 120_000;
const MAILS_AT_ONCE = 8;
const ROUNDS_PER_RUN = 20;

export function mailQueue(encryption: Encryption): QueueMail {
  return async (tx, { to, subject, text, expiresAt }) =>
    insertDirectMail(tx, { to, subject, expiresAt, encryptedText: encryption.encrypt(text, ENCRYPTION_CONTEXT) });
}

type Ports = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: (byteCount: number) => Buffer;
  readonly encryption: Encryption;
  /** The mailer; undefined where no mail server is set up: then no mail is queued or sent. */
  readonly mailer: Mailer | undefined;
};

/** Sends the mails that are due. Any number of processes may do this at once. */
export async function sendDirectMails(ports: Ports): Promise<LoopStatus> {
  const { database, clock, mailer } = ports;
  let tried = 0;
  for (let round = 1; mailer !== undefined && round <= ROUNDS_PER_RUN; round += 1) {
    const claimed = await withTransaction(database, clock, (tx) =>
      claimDirectMails(tx, MAILS_AT_ONCE, new Date(tx.now.getTime() + CLAIM_MS)),
    );
    await Promise.all(claimed.map((mail) => send(ports, mailer, mail)));
    tried += claimed.length;
    if (claimed.length < MAILS_AT_ONCE) break;
  }
  return { tried };
}

async function send(
  { database, clock, log, random, encryption }: Ports,
  mailer: Mailer,
  mail: ClaimedMail,
): Promise<void> {
  const { id, to, subject, attempt, createdAt } = mail;
  const text = encryption.decrypt(mail.encryptedText, ENCRYPTION_CONTEXT);
  const outcome: Outcome =
    text === undefined
      ? { kind: "refused", text: "was encrypted with another secret" }
      : await mailer.send(mailTo({ to, subject, text, eventId: `mail_${id}` }, mailer.from));
  const chance = random(4).readUInt32BE() / 2 ** 32;
  await withTransaction(database, clock, (tx) => {
    const dueAt = outcome.kind === "retry" ? nextAttemptAt({ attempt, createdAt, now: tx.now, chance }) : undefined;
    return finishDirectMail(tx, mail, dueAt);
  });
  if (outcome.kind === "refused") log.warn({ mail_id: String(id), outcome: outcome.text }, "a mail was not sent");
}
