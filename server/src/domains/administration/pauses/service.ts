import { epochSeconds } from "../../../base/clock.ts";
import { invalid, notFound } from "../../../base/errors.ts";
import type { Caller } from "../../../base/identity.ts";
import type { Tx } from "../../../db/transaction.ts";
import { recordAudit, tellAdministrators } from "../../people/accounts/index.ts";
import { insertAnnouncement, setAnnouncementEnd } from "../announcements/store.ts";
import type { PauseBody } from "./schema.ts";
import { endPause, insertPause } from "./store.ts";

/** A pause that is forgotten must not last for ever. */
const DAYS_MAX = 7;
const DAY_SECONDS = 86_400;

/**
 * Pauses the service from a time, at once when none is given, until another: accounts change nothing, and people read the
 * message. Another pause that lasts or is planned is replaced. Throws `invalid_args` for an end that is past, before the
 * beginning, or more than seven days after it.
 */
export async function pauseService(
  tx: Tx,
  { identity, ipAddress }: Caller,
  { message, from = epochSeconds(tx.now), until }: PauseBody,
): Promise<number> {
  const startedAt = new Date(Math.max(from * 1000, tx.now.getTime()));
  const untilAt = new Date(until * 1000);
  const seconds = until - epochSeconds(startedAt);
  if (seconds <= 0) throw invalid("until", "until must be in the future, and later than from");
  if (seconds > DAYS_MAX * DAY_SECONDS) throw invalid("until", `until must be within ${DAYS_MAX} days of from`);
  const earlier = await endPause(tx, identity.userId);
  if (earlier !== undefined) await setAnnouncementEnd(tx, earlier.announcementId);
  const times = `from ${utcText(startedAt)} until ${utcText(untilAt)}`;
  const announcementId = await insertAnnouncement(tx, identity.userId, {
    title: startedAt > tx.now ? "The service will be paused" : "The service is paused",
    message: `${message} Nothing can be rented or changed ${times}. What runs goes on.`,
    ...{ level: "warning", audience: "everyone", from: tx.now, until: untilAt },
  });
  const pause = { message, startedAt, untilAt, startedBy: identity.userId, announcementId };
  const id = await insertPause(tx, pause);
  const args = { id, message, from: epochSeconds(startedAt), until, announcement_id: announcementId };
  await recordAudit(tx, identity, { ipAddress, action: "api.admin.pause.begin", args });
  await tellAdministrators(tx, {
    subject: "The service is paused",
    message: `Administrator ${identity.userId} paused the service ${times}: ${message}`,
    key: `pause:${id}`,
  });
  return id;
}

function utcText(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** Ends the pause that lasts or is planned. Throws `no_such_pause`. */
export async function resumeService(tx: Tx, { identity, ipAddress }: Caller): Promise<number> {
  const ended = await endPause(tx, identity.userId);
  if (ended === undefined || ended.untilAt <= tx.now) throw notFound("no_such_pause", "The service is not paused.");
  await setAnnouncementEnd(tx, ended.announcementId);
  await recordAudit(tx, identity, { ipAddress, action: "api.admin.pause.end", args: { id: ended.id } });
  await tellAdministrators(tx, {
    subject: "The service is no longer paused",
    message: `Administrator ${identity.userId} ended pause ${ended.id} of the service.`,
    key: `pause_ended:${ended.id}`,
  });
  return ended.id;
}
