import type { Hello } from "../../../../protocol/index.ts";
import { forbidden, type AppError } from "../../base/errors.ts";
import type { MachineId } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { Tx } from "../../db/transaction.ts";
import { isCredentialLive } from "./join-store.ts";
import { findProofs, noteClone, storeProof } from "./proof-store.ts";
import { registerMachine } from "./service.ts";
import { hashProof, isProofGood, type ProofMaker } from "./session-proof.ts";
import { findMachineForUpdate, type Credential, type Registration } from "./store.ts";

/** A connection that was let in, with what its agent must show at the next one; empty where nothing is asked. */
export type Admission = Registration & { readonly sessionProof: string; readonly leaseMs: number };

export type AdmissionParts = { readonly proofs: ProofMaker; readonly log: Log; readonly leaseMs: number };

/** A copy that tries every few seconds is written into the log this often. */
const CLONE_LOG_MS = 3_600_000;

/**
 * Lets a machine in, or says why not; the refusal is a value, since what was noticed must be committed with it.
 *
 * A credential that was made by joining is good for one machine: it must come from the hardware that joined, under its
 * name, with the proof of the last session. The agent that a server starts itself is asked for none of these: its
 * credential is new at each start of the server and is handed to a child process, never stored.
 */
export async function admit(
  tx: Tx,
  { credential, hello }: { readonly credential: Credential; readonly hello: Hello },
  { proofs, log, leaseMs }: AdmissionParts,
): Promise<Admission | AppError> {
  if (!(await isCredentialLive(tx, credential.id))) return revoked();
  const { joiner } = credential;
  if (joiner === undefined) {
    return { ...(await registerMachine(tx, credential, hello, leaseMs)), sessionProof: "", leaseMs };
  }
  const known = await findMachineForUpdate(tx, credential.id, hello.host_key);
  const before = known && (await findProofs(tx.db, known.id));
  const issuedFor = known && proofs.sessionOf(known.id, hello.session_proof);
  const isGood = before === undefined || isProofGood(before, hello.session_proof, issuedFor);
  if (!isGood || hello.fingerprint !== joiner.fingerprint || !isNameOf(joiner.hostKey, hello)) {
    return noticeClone(tx, known?.id, log);
  }
  const { machineId, sessionNumber: counted } = await registerMachine(tx, credential, hello, leaseMs);
  // A database restored from an older copy continues behind what it had counted.
  const sessionNumber = Math.max(counted, (issuedFor ?? 0) + 1);
  const sessionProof = proofs.make(machineId, sessionNumber);
  const previousSha256 = hashProof(hello.session_proof);
  await storeProof(tx, { machineId, sessionNumber }, { proofSha256: hashProof(sessionProof), previousSha256 });
  return { machineId, sessionNumber, sessionProof, leaseMs };
}

/** Notes that somebody came with a copy of the credential of this machine; the original is served on. */
export async function noticeClone(tx: Tx, machineId: MachineId | undefined, log: Log): Promise<AppError> {
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

export function revoked(): AppError {
  return forbidden("This agent's credential was revoked. Its machine may join again with a new token.", "revoked");
}

/** The name under which the machine joined. Simulated hosts of one agent have a number behind it. */
function isNameOf(hostKey: string, { host_key: shown, engine }: Hello): boolean {
  if (shown === hostKey) return true;
  return (
    engine.kind === "simulated" && shown.startsWith(`${hostKey}-`) && /^\d+$/.test(shown.slice(hostKey.length + 1))
  );
}
