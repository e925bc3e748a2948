import { conflict, insufficientFunds, invalid, notFound } from "../../../base/errors.ts";
import { asId, parseId, type MachineId, type StandingRequestId, type UserId } from "../../../base/ids.ts";
import type { Identity } from "../../../base/identity.ts";
import type { Nanos } from "../../../base/money.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { lockUser, requireAccount } from "../../people/accounts/index.ts";
import type { OrderDesk } from "../instances/index.ts";
import { refuseUnknownFields } from "../../supply/market/index.ts";
import { encryptLaunch } from "../templates/index.ts";
import { MACHINES_PER_ROUND } from "./matcher.ts";
import type { CreateBody } from "./schema.ts";
import {
  checkQuery,
  isWithinLimit,
  readExpiry,
  readQuery,
  readTotalMax,
  searchAmong,
  searchAtAnyPrice,
  type FoundOffer,
  type Query,
  type StandingRequest,
} from "./rules/standing-request.ts";
import {
  closeStandingRequest,
  countOpenOf,
  findStandingRequest,
  insertStandingRequest,
  listStandingRequestsOf,
  lockStandingRequestOf,
  positionsOf,
  reserveId,
} from "./store.ts";
import { standingRequestRecord } from "./views.ts";

const OPEN_MAX = 100;
/** The number of a user's requests that a listing shows, the newest first. */
const LISTED_MAX = 1000;
/** The most offers that are counted for one request. */
const COUNTED_MAX = 64;

export type QueuePorts = {
  readonly desk: Pick<OrderDesk, "wishOf" | "checkVolumes">;
  readonly encryption: Encryption;
  readonly search: (query: Query) => readonly FoundOffer[];
  /** The credit that a user can spend now. */
  readonly creditOf: (db: Reader, userId: UserId) => Promise<Nanos>;
};

export type OwnRequest = { readonly userId: UserId; readonly id: number };

/**
 * Stores a request after everything about it was checked, so that no mistake of the renter shows only when an offer
 * comes.
 */
export async function createStandingRequest(
  tx: Tx,
  { identity, body }: { readonly identity: Identity; readonly body: CreateBody },
  { desk, encryption, search, creditOf }: QueuePorts,
) {
  if (body.target_state === "stopped") {
    throw invalid("target_state", "target_state must be running: a standing request is for an instance that runs");
  }
  if (body.volume_info?.create_new === true) {
    const message = "volume_info.create_new: a new volume is on one machine; rent it first and link it by volume_id";
    throw invalid("volume_info.create_new", message);
  }
  const { userId } = identity;
  await requireAccount(tx, userId);
  // Requests of one account are created one after another, so that their number can be relied on.
  await lockUser(tx, userId);
  const wish = await desk.wishOf(tx.db, identity, body);
  await desk.checkVolumes(tx, wish);
  const { bidNanosPerHour, launch, template, volumeInfo } = wish;
  const query = readQuery(body.q);
  refuseUnknownFields(query);
  checkQuery(query, bidNanosPerHour);
  const totalMaxNanosPerHour = readTotalMax(body.max_dph, bidNanosPerHour);
  const expiresAt = readExpiry(body.expires_in_hours, tx.now);
  // The largest search that the matcher will make for this request, so that a search too large is refused now.
  const machines = Array.from({ length: MACHINES_PER_ROUND }, (_, index) => asId<MachineId>(index + 1));
  search(searchAmong({ query, totalMaxNanosPerHour, bidNanosPerHour, diskGb: launch.disk_gb }, { in: machines }));
  if ((await creditOf(tx.db, userId)) <= 0n) {
    throw insufficientFunds("A standing request needs credit, because it rents as soon as an offer matches.");
  }
  if ((await countOpenOf(tx, userId)) >= OPEN_MAX) {
    const message = `An account may have at most ${OPEN_MAX} open standing requests.`;
    throw invalid("q", message, "max_standing_requests");
  }
  const id = await reserveId(tx);
  await insertStandingRequest(tx, {
    id,
    userId,
    query,
    totalMaxNanosPerHour,
    bidNanosPerHour,
    launch: encryptLaunch(launch, { kind: "standing request", id }, encryption),
    templateHashId: template?.hashId,
    volumeInfo,
    capScopes: wish.capScopes,
    expiresAt,
  });
  const positions = await positionsOf(tx.db, [id]);
  return { success: true as const, id, position: positions.get(id) ?? 1, expires_at: expiresAt.getTime() / 1000 };
}

/**
 * Cancels a request; a second call changes nothing. A request that became an instance is refused, and the error names
 * the instance.
 */
export async function cancelStandingRequest(tx: Tx, { userId, id: given }: OwnRequest): Promise<void> {
  const id = toId(given);
  const request = id && (await lockStandingRequestOf(tx, userId, id));
  if (id === undefined || request === undefined) throw noSuchRequest(given);
  if (request.instanceId !== undefined) {
    const message = `Standing request ${id} became instance ${request.instanceId}, which is not cancelled.`;
    throw conflict("standing_request_claimed", message, { extra: { instance_id: request.instanceId } });
  }
  if (request.status === "open") await closeStandingRequest(tx, { id, status: "cancelled" });
}

export async function showStandingRequest(
  db: Reader,
  { userId, id: given, now }: OwnRequest & { readonly now: Date },
  search: QueuePorts["search"],
) {
  const id = toId(given);
  const request = id && (await findStandingRequest(db, userId, id));
  if (request === undefined) throw noSuchRequest(given);
  const positions = await positionsOf(db, [request.id]);
  const record = standingRequestRecord(request, { now, position: positions.get(request.id) });
  return { ...record, ...(record.status === "open" ? prospectsOf(request, search) : NO_PROSPECTS) };
}

const NO_PROSPECTS = { offers_matching: 0, offers_at_any_price: 0, cheapest_dph: null };

/** The offers for an open request now, and the price of the cheapest, which shows how far off the limit is. */
function prospectsOf(request: StandingRequest, search: QueuePorts["search"]) {
  const order = [["dph_total", "asc"]];
  const offers = search({ ...searchAtAnyPrice(request), order, limit: COUNTED_MAX });
  return {
    offers_matching: offers.filter((offer) => isWithinLimit(request, offer)).length,
    offers_at_any_price: offers.length,
    cheapest_dph: offers[0]?.dph_total ?? null,
  };
}

export async function listStandingRequestRecords(db: Reader, userId: UserId, now: Date) {
  const requests = await listStandingRequestsOf(db, userId, LISTED_MAX);
  const positions = await positionsOf(
    db,
    requests.filter(({ status }) => status === "open").map(({ id }) => id),
  );
  return requests.map((request) => standingRequestRecord(request, { now, position: positions.get(request.id) }));
}

function toId(id: number): StandingRequestId | undefined {
  return parseId<StandingRequestId>(String(id));
}

function noSuchRequest(id: number) {
  return notFound("no_such_standing_request", `You have no standing request ${id}.`);
}
