import { notifyMarket } from "../market-channel-store.ts";
import { invalid, notFound } from "../../../../base/errors.ts";
import type { MachineId } from "../../../../base/ids.ts";
import { isUnscopedAdmin } from "../../../../base/access.ts";
import type { Caller, Identity } from "../../../../base/identity.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { recordAudit } from "../../../people/accounts/index.ts";
import { postNotifications } from "../../../notifications/index.ts";
import {
  countPresence,
  findShownReliability,
  listMachineDays,
  listReliabilityFacts,
  lockPresenceClock,
  setPresenceClock,
  setReliability,
  type MachineDay,
  type RatedMachine,
  type RentalsInSql,
} from "../presence/presence-store.ts";
import { findMeasuredUplink } from "../uplinks/probe-store.ts";
import { planPresence } from "../presence/rules/presence.ts";
import { computeReliability, type ReliabilityTerms } from "../presence/rules/reliability.ts";
import type { MeasuredUplink } from "../uplinks/slow-uplink.ts";
import { listRestReasons } from "../starts/start-store.ts";
import { lockMachines } from "../store.ts";
import { findCandidate, listCandidates, setTrust, setVerifications, type Candidate } from "./store.ts";
import { checkMachine, decideVerification, type Check, type Verification } from "./rules/verification.ts";

/** Counts presence since the last count; returns the number of machines. */
export async function accruePresence(tx: Tx, rentals: RentalsInSql): Promise<number> {
  const plan = planPresence(await lockPresenceClock(tx), tx.now);
  if (plan.kind === "wait") return 0;
  const counted = plan.kind === "count" ? await countPresence(tx, plan.parts, rentals) : 0;
  await setPresenceClock(tx, plan.until);
  return counted;
}

/**
 * Replaces offers whose terms became worse and announces the change. The market, which knows hosts, provides it: a
 * machine that loses its verification keeps no offer that promises it.
 */
export type RefreshOffers = (tx: Tx, machineIds: readonly MachineId[]) => Promise<void>;

/** Result for one page of machines; `lastId` is undefined after the last page. */
export type Page = { readonly changed: number; readonly lastId: MachineId | undefined };
type PageOf = { readonly afterId: number; readonly limit: number };

/** Recomputes the reliability of machines and stores those that offers would show differently. */
export async function rateMachines(tx: Tx, page: PageOf): Promise<Page> {
  const rated = await listReliabilityFacts(tx.db, { ...page, now: tx.now });
  const changed = await storeReliability(tx, rated);
  return { changed, lastId: rated.length < page.limit ? undefined : rated.at(-1)?.id };
}

/** Stores the reliability of those machines that offers would show differently; returns their number. */
export async function storeReliability(tx: Tx, rated: readonly RatedMachine[]): Promise<number> {
  const changed = rated.flatMap(({ id, reliabilityPpm: before, ...facts }) => {
    const { reliabilityPpm } = computeReliability(facts);
    return reliabilityPpm === before ? [] : [{ id, reliabilityPpm }];
  });
  if (changed.length > 0) {
    const ids = changed.map(({ id }) => id);
    await lockMachines(tx, ids);
    await setReliability(tx, changed);
    await notifyMarket(tx, ids);
  }
  return changed.length;
}

/** Decides by the rule which machines are verified, except those that an administrator decided. */
export async function verifyMachines(tx: Tx, page: PageOf, refreshOffers: RefreshOffers): Promise<Page> {
  const candidates = await listCandidates(tx.db, page);
  const decided = candidates.flatMap(({ id, verification: before, facts }) => {
    const verification = decideVerification(before, checkMachine(facts));
    return verification === before ? [] : [{ id, verification }];
  });
  let changedIds: readonly MachineId[] = [];
  if (decided.length > 0) {
    await lockMachines(
      tx,
      decided.map(({ id }) => id),
    );
    changedIds = await setVerifications(tx, decided);
    await tellDeverified(tx, candidates, changedIds);
    await refreshOffers(tx, changedIds);
  }
  return { changed: changedIds.length, lastId: candidates.length < page.limit ? undefined : candidates.at(-1)?.id };
}

/** Tells hosts why the rule took away their machine's verification. */
async function tellDeverified(
  tx: Tx,
  candidates: readonly Candidate[],
  changedIds: readonly MachineId[],
): Promise<void> {
  const changed = new Set(changedIds);
  const lost = candidates.filter(({ id, verification }) => verification === "verified" && changed.has(id));
  await postNotifications(
    tx,
    lost.map(({ id, hostId, facts }) => {
      const failed = checkMachine(facts).filter((check) => !check.isKept);
      return {
        userId: hostId,
        kind: "host:verification_failed",
        subject: `Machine ${id} lost its verification`,
        message: `Machine ${id} is not verified any more. ${failed.map((check) => check.text).join(" ")}`,
        key: `host:verification_failed:${id}:${tx.now.getTime()}`,
      };
    }),
  );
}

export type ReliabilityReport = {
  readonly machineId: MachineId;
  readonly isSimulated: boolean;
  readonly days: readonly MachineDay[];
  readonly terms: ReliabilityTerms;
  /** The reliability that offers show until it is computed again. */
  readonly shownPpm: number;
};

/** The public report on a machine's reliability, computed now. */
export async function reportReliability(db: Reader, id: MachineId | undefined, now: Date): Promise<ReliabilityReport> {
  const shown = id === undefined ? undefined : await findShownReliability(db, id);
  if (id === undefined || shown === undefined) throw notFound("no_such_machine", "There is no such machine.");
  const days = await listMachineDays(db, id, now);
  const sum = (read: (day: MachineDay) => bigint) => days.reduce((total, day) => total + read(day), 0n);
  const terms = computeReliability({
    onlineMs: sum((day) => day.onlineMs),
    offlineMs: sum((day) => day.offlineMs),
    offlineRentedMs: sum((day) => day.offlineRentedMs),
    maintenanceMs: sum((day) => day.maintenanceMs),
    failedStarts: sum((day) => BigInt(day.startsFailed)),
  });
  return { machineId: id, isSimulated: shown.isSimulated, days, terms, shownPpm: shown.ppm };
}

export type VerificationReport = {
  readonly machine: Candidate;
  readonly checks: readonly Check[];
  /** Speed of its uplink, measured by servers within a week; undefined without a measurement. */
  readonly measuredUplink: MeasuredUplink | undefined;
  /** Reason of its rest; undefined when it does not rest. */
  readonly restReason: string | undefined;
};

/** The report on the verification of a host's own machine; administrators may read that of every machine. */
export async function reportVerification(
  db: Reader,
  { identity, now }: { readonly identity: Identity; readonly now: Date },
  id: MachineId | undefined,
): Promise<VerificationReport> {
  const machine = id === undefined ? undefined : await findCandidate(db, id);
  if (machine === undefined || (machine.hostId !== identity.userId && !isUnscopedAdmin(identity))) {
    throw notFound("no_such_machine", "There is no such machine of yours.");
  }
  const reasons = await listRestReasons(db, [machine.id], now);
  const measuredUplink = await findMeasuredUplink(db, machine.id, { now, measuredFrom: undefined });
  return { machine, checks: checkMachine(machine.facts), measuredUplink, restReason: reasons.get(machine.id) };
}

export type TrustDecision = {
  /** `automatic` gives the decision back to the rule. */
  readonly verification?: "verified" | "unverified" | "automatic";
  readonly hosting_type?: number;
};

/** Stores an administrator's decision on a machine. The rule does not change it until it is given back. */
export async function decideTrust(
  tx: Tx,
  { identity, ipAddress }: Caller,
  { id, request }: { readonly id: MachineId | undefined; readonly request: TrustDecision },
  refreshOffers: RefreshOffers,
): Promise<Candidate> {
  if (request.verification === undefined && request.hosting_type === undefined) {
    throw invalid("verification", "Say verification, hosting_type, or both.", "missing_input");
  }
  if (id !== undefined) await lockMachines(tx, [id]);
  const machine = id === undefined ? undefined : await findCandidate(tx.db, id);
  if (machine === undefined) throw notFound("no_such_machine", "There is no such machine.");
  const decided = {
    ...decisionOf(machine, request.verification),
    hostingType: request.hosting_type ?? machine.hostingType,
  };
  await setTrust(tx, machine.id, decided);
  await recordAudit(tx, identity, {
    ipAddress,
    action: "api.admin.machine.verify",
    args: { machine_id: machine.id, verification: request.verification, hosting_type: request.hosting_type },
  });
  await refreshOffers(tx, [machine.id]);
  return { ...machine, ...decided };
}

function decisionOf(
  { verification, isFixed, isTrusted, facts }: Candidate,
  wanted: TrustDecision["verification"],
): { readonly verification: Verification; readonly isFixed: boolean } {
  if (wanted === undefined) return { verification, isFixed };
  if (wanted !== "automatic") return { verification: wanted, isFixed: true };
  const byRule = isTrusted ? "verified" : decideVerification(verification, checkMachine(facts));
  return { verification: byRule, isFixed: false };
}
