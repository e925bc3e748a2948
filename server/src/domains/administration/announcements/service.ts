import { epochSeconds } from "../../../base/clock.ts";
import { invalid, notFound } from "../../../base/errors.ts";
import type { Caller, Identity } from "../../../base/identity.ts";
import type { AnnouncementId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { recordAudit, tellAdministrators } from "../../people/accounts/index.ts";
import { countInstancesOfEach } from "../../rental/instances/for-administration.ts";
import { countMachinesOfEach } from "../../supply/hosts/for-administration.ts";
import type { UpdateBody } from "./schema.ts";
import {
  deleteAnnouncement,
  insertAnnouncement,
  listShownAnnouncements,
  lockAnnouncement,
  updateAnnouncement,
  type Announcement,
  type AnnouncementContent,
  type Audience,
} from "./store.ts";

/** Announcements that one person is shown at a time. */
const SHOWN_MAX = 20;

/** The announcements that a caller sees now. An account without machines is a renter; a host who rents is both. */
export async function listAnnouncementsFor(
  db: Reader,
  now: Date,
  identity: Identity | undefined,
): Promise<readonly Announcement[]> {
  const audiences = identity === undefined ? (["everyone"] as const) : await audiencesOf(db, identity);
  return listShownAnnouncements(db, { now, audiences, limit: SHOWN_MAX });
}

async function audiencesOf(db: Reader, { userId }: Identity): Promise<readonly Audience[]> {
  const isHost = (await countMachinesOfEach(db, [userId])).has(userId);
  if (!isHost) return ["everyone", "renters"];
  const rents = (await countInstancesOfEach(db, [userId])).has(userId);
  return rents ? ["everyone", "hosts", "renters"] : ["everyone", "hosts"];
}

/** Publishes an announcement; all administrators are told. Throws `invalid_args` for an end before the beginning. */
export async function announce(
  tx: Tx,
  { identity, ipAddress }: Caller,
  body: UpdateBody & { readonly title: string; readonly message: string },
): Promise<AnnouncementId> {
  const plain = { level: "info", audience: "everyone", from: tx.now, until: undefined } as const;
  const content = merged({ ...plain, title: body.title, message: body.message }, body);
  const id = await insertAnnouncement(tx, identity.userId, content);
  await recordAudit(tx, identity, { ipAddress, action: "api.admin.announcement.create", args: argsOf(id, content) });
  await tellAdministrators(tx, {
    subject: `Announcement ${id} is published`,
    message: `User ${identity.userId} announces to ${content.audience}: ${content.title}`,
    key: `announcement:${id}`,
  });
  return id;
}

/** Changes an announcement. Throws `no_such_announcement`. */
export async function changeAnnouncement(
  tx: Tx,
  { identity, ipAddress }: Caller,
  { id, body }: { readonly id: AnnouncementId; readonly body: UpdateBody },
): Promise<void> {
  const content = merged(await requireAnnouncement(tx, id), body);
  await updateAnnouncement(tx, id, content);
  await recordAudit(tx, identity, { ipAddress, action: "api.admin.announcement.update", args: argsOf(id, content) });
}

/** Removes an announcement. Throws `no_such_announcement`. */
export async function removeAnnouncement(tx: Tx, { identity, ipAddress }: Caller, id: AnnouncementId): Promise<void> {
  const content = await requireAnnouncement(tx, id);
  await deleteAnnouncement(tx, id);
  await recordAudit(tx, identity, { ipAddress, action: "api.admin.announcement.delete", args: argsOf(id, content) });
}

async function requireAnnouncement(tx: Tx, id: AnnouncementId): Promise<Announcement> {
  const announcement = await lockAnnouncement(tx, id);
  if (announcement === undefined) throw notFound("no_such_announcement", `There is no announcement ${id}.`);
  return announcement;
}

function merged(known: AnnouncementContent, body: UpdateBody): AnnouncementContent {
  const from = body.from === undefined ? known.from : new Date(body.from * 1000);
  const until = body.until === undefined ? known.until : new Date(body.until * 1000);
  if (until !== undefined && until <= from) throw invalid("until", "until must be later than from");
  return {
    title: body.title ?? known.title,
    message: body.message ?? known.message,
    level: body.level ?? known.level,
    audience: body.audience ?? known.audience,
    ...{ from, until },
  };
}

function argsOf(id: AnnouncementId, { title, level, audience, from, until }: AnnouncementContent) {
  const times = { from: epochSeconds(from), until: until === undefined ? null : epochSeconds(until) };
  return { announcement_id: id, title, level, audience, ...times };
}
