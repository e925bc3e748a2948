import type { Hello } from "../../../../../../protocol/index.ts";
import { forbidden, type AppError } from "../../../../base/errors.ts";
import type { MachineId, ServerId } from "../../../../base/ids.ts";
import type { Log } from "../../../../base/log.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { lockUser } from "../../../people/accounts/index.ts";
import { lockLiveCredentials, lockMachineKinds, type MachineKinds } from "../join/store.ts";
import { noteClone, storeProof } from "./proof-store.ts";
import { registerMachines } from "../join/registration.ts";
import { countMachinesOf } from "../join/room-store.ts";
import { announceSession } from "./session-channel-store.ts";
import { isSimulated, lockKnownMachines, nameOf, type Arrival, type KnownMachine } from "../join/registration-store.ts";
import { deleted } from "../service.ts";
import { hashProof, isProofGood, type ProofMaker } from "./rules/session-proof.ts";
import type { Registration } from "../store.ts";

/**
 * A connection that was let in, and the proof that its agent must show at the next one; empty where none is required.
 */
export type Admission = Registration & { readonly sessionProof: string; readonly leaseMs: number };

export type AdmissionParts = {
  readonly proofs: ProofMaker;
  readonly log: Log;
  readonly leaseMs: number;
  /** The server that lets the machines in. */
  readonly serverId: ServerId | undefined;
};

/**
 * Machines of one account, deleted ones aside. The server's own agent may bring in more: it belongs to the operator.
 */
export const MACHINES_MAX = 5_000;

/** Interval of log lines about a copy that tries to connect every few seconds. */
const CLONE_LOG_MS = 3_600_000;

/**
 * Lets machines in or refuses them, each answered in its place. A refusal is a value, since the facts noted about it
 * must be committed with it. One transaction for many: when a server starts, thousands of machines connect at once.
 */
export async function admitAll(
  tx: Tx,
  arrivals: readonly Arrival[],
  parts: AdmissionParts,
): Promise<readonly (Admission | AppError)[]> {
  const answers = new Map<Arrival, Admission | AppError>();
  let left = arrivals;
  while (left.length > 0) {
    // A machine that connects twice within a moment is let in twice, one after the other.
    const names = new Set<string>();
    const round = left.filter((arrival) => names.size < names.add(nameOf(arrival)).size);
    for (const [arrival, answer] of await admitEach(tx, round, parts)) answers.set(arrival, answer);
    left = left.filter((arrival) => !answers.has(arrival));
  }
  return arrivals.map((arrival) => answers.get(arrival) ?? revoked());
}

/**
 * A credential that was created by joining is valid for one machine: it must come from the hardware that joined, under
 * its name, with the proof of the last session. The agent that a server starts itself needs none of these: its
 * credential is new at each start of the server and is handed to a child process, never stored.
 */
async function admitEach(
  tx: Tx,
  arrivals: readonly Arrival[],
  { proofs, log, leaseMs, serverId }: AdmissionParts,
): Promise<ReadonlyMap<Arrival, Admission | AppError>> {
  const answers = new Map<Arrival, Admission | AppError>();
  const joined = arrivals.filter(({ credential }) => credential.joiner !== undefined);
  const kinds = await lockMachineKinds(tx, [...new Set(joined.map(({ credential }) => credential.id))]);
  const live = await lockLiveCredentials(tx, [...new Set(arrivals.map(({ credential }) => credential.id))]);
  const known = await lockKnownMachines(tx, arrivals);
  const room = await roomFor(tx, joined, known);
  const welcome: Arrival[] = [];
  for (const arrival of arrivals) {
    const machine = known.get(nameOf(arrival));
    if (!live.has(arrival.credential.id)) answers.set(arrival, revoked());
    else if (!isOriginal(arrival, machine, proofs)) answers.set(arrival, await recordClone(tx, machine?.id, log));
    else if (machine?.isDeleted === true) answers.set(arrival, deleted());
    else if (isOtherKind(arrival, kinds.get(arrival.credential.id))) answers.set(arrival, secondMachine());
    else if (machine === undefined && !room(arrival)) answers.set(arrival, tooManyMachines());
    else {
      welcome.push(arrival);
      const isInvented = isSimulated(arrival.hello);
      kinds.set(arrival.credential.id, { hasReal: !isInvented, hasSimulated: isInvented });
    }
  }
  const registrations = await registerMachines(tx, welcome, { known, leaseMs, serverId });
  for (const [index, { machineId, sessionNumber: counted }] of registrations.entries()) {
    const arrival = welcome[index];
    if (arrival === undefined) continue;
    const before = known.get(nameOf(arrival))?.serverId ?? undefined;
    if (before !== undefined && before !== serverId) await announceSession(tx, { machineId, sessionNumber: counted });
    if (arrival.credential.joiner === undefined) {
      answers.set(arrival, { machineId, sessionNumber: counted, sessionProof: "", leaseMs });
      continue;
    }
    // A database restored from an older copy continues after the session number that the proof names.
    const issuedFor = known.has(nameOf(arrival)) ? proofs.sessionOf(machineId, arrival.hello.session_proof) : undefined;
    const sessionNumber = Math.max(counted, (issuedFor ?? 0) + 1);
    const sessionProof = proofs.make(machineId, sessionNumber);
    const previousSha256 = hashProof(arrival.hello.session_proof);
    await storeProof(tx, { machineId, sessionNumber }, { proofSha256: hashProof(sessionProof), previousSha256 });
    answers.set(arrival, { machineId, sessionNumber, sessionProof, leaseMs });
  }
  return answers;
}

/**
 * For each machine that connects for the first time, tells whether its account may have one more. A credential brings
 * in any number of simulated machines, so credentials do not bound them.
 */
async function roomFor(
  tx: Tx,
  joined: readonly Arrival[],
  known: ReadonlyMap<string, KnownMachine>,
): Promise<(arrival: Arrival) => boolean> {
  const newcomers = joined.filter((arrival) => !known.has(nameOf(arrival)));
  const hostIds = [...new Set(newcomers.map(({ credential }) => credential.userId))].toSorted((a, b) => a - b);
  for (const id of hostIds) await lockUser(tx, id);
  const counts = new Map(hostIds.length === 0 ? [] : await countMachinesOf(tx, hostIds));
  return ({ credential: { userId, joiner } }) => {
    if (joiner === undefined) return true;
    const count = counts.get(userId) ?? 0;
    counts.set(userId, count + 1);
    return count < MACHINES_MAX;
  };
}

function tooManyMachines(): AppError {
  const message = `An account may have at most ${MACHINES_MAX} machines. Delete one that is not needed.`;
  return forbidden(message, "too_many_machines");
}

/**
 * A credential that was created by joining is for one real machine, or for simulated ones only: the first that comes
 * with it decides. So nobody brings in a second machine by calling it simulated, and no simulated machine turns real.
 */
function isOtherKind({ credential, hello }: Arrival, kinds: MachineKinds | undefined): boolean {
  if (credential.joiner === undefined || kinds === undefined) return false;
  return isSimulated(hello) ? kinds.hasReal : kinds.hasSimulated;
}

/** True for the machine that the credential was created for, false for a copy of it. */
function isOriginal({ credential, hello }: Arrival, known: KnownMachine | undefined, proofs: ProofMaker): boolean {
  const { joiner } = credential;
  if (joiner === undefined) return true;
  const issuedFor = known && proofs.sessionOf(known.id, hello.session_proof);
  const isProven = known === undefined || isProofGood(known.proofs, hello.session_proof, issuedFor);
  return isProven && hello.fingerprint === joiner.fingerprint && isNameOf(joiner.hostKey, hello);
}

/** Notes that a copy of this machine's credential was used; the original is still served. */
export async function recordClone(tx: Tx, machineId: MachineId | undefined, log: Log): Promise<AppError> {
  const last = machineId === undefined ? null : await noteClone(tx, machineId);
  if (last === null || tx.now.getTime() - last.getTime() > CLONE_LOG_MS) {
    tx.afterCommit(() => log.warn({ machine_id: machineId }, "a copy of a machine's credential was refused"));
  }
  return forbidden(
    "This credential belongs to another machine, or to another copy of this agent. To bring this machine in, join with " +
      "a token of its own; to give it back its place after its state was lost, join again on it.",
    "credential_cloned",
  );
}

function secondMachine(): AppError {
  return forbidden(
    "This credential belongs to a machine of another kind, real or simulated. Join with a token of its own.",
    "other_machine_kind",
  );
}

export function revoked(): AppError {
  return forbidden("This agent's credential was revoked. Its machine may join again with a new token.", "revoked");
}

/** True for the name under which the machine joined. Simulated hosts of one agent have a number after it. */
function isNameOf(hostKey: string, { host_key: shown, engine }: Hello): boolean {
  if (shown === hostKey) return true;
  return (
    engine.kind === "simulated" && shown.startsWith(`${hostKey}-`) && /^\d+$/.test(shown.slice(hostKey.length + 1))
  );
}
