import { timingSafeEqual } from "node:crypto";
import { connect } from "node:net";
import type { Clock } from "../../../../base/clock.ts";
import type { Log } from "../../../../base/log.ts";
import type { Database } from "../../../../db/connect.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { claimOf, type AddressClaim } from "./address-proof.ts";
import { countAddressCall, storeProvenAddress } from "./address-proof-store.ts";
import type { Arrival } from "../join/registration-store.ts";
import type { Registration } from "../store.ts";

/** Asks a host to answer with the nonce at the public address that it names; `call` looks whether it does. */
export type AddressChallenge = { readonly nonce: string; readonly call: (to: Registration) => Promise<void> };

/** How long one call may take. */
const CALL_MS = 5_000;
/** Calls that one server makes at a time; hosts beyond it prove their address at a later connection. */
const CALLS_MAX = 8;
const NONCE_BYTES = 32;

export type ChallengeMeans = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: (size: number) => Buffer;
  /** The operator lets this server call addresses of its own network. */
  readonly isPrivateAllowed: boolean;
};

/**
 * Makes the challenge of each agent that connects; undefined where its connection says enough. Nobody is told what a call
 * met except for the nonce itself: a host that names somebody else's address learns nothing of what listens there.
 */
export function addressChallenger(means: ChallengeMeans): (arrival: Arrival) => AddressChallenge | undefined {
  const { database, clock, log, random, isPrivateAllowed } = means;
  let underWay = 0;
  return (arrival) => {
    const claim = claimOf(arrival, isPrivateAllowed);
    if (claim === undefined) return undefined;
    const nonce = random(NONCE_BYTES).toString("hex");
    return {
      nonce,
      async call(registration) {
        if (underWay >= CALLS_MAX) return;
        underWay += 1;
        try {
          if (!(await withTransaction(database, clock, (tx) => countAddressCall(tx, registration)))) return;
          const isProven = await answersWith(clock, claim, nonce);
          log.info(
            { machine_id: registration.machineId, is_proven: isProven },
            "a host was called at its public address",
          );
          if (isProven) {
            await withTransaction(database, clock, (tx) => storeProvenAddress(tx, registration, claim.address));
          }
        } finally {
          underWay -= 1;
        }
      },
    };
  };
}

/** Whether this address says exactly the nonce. The server sends nothing, and reads no more than the nonce is long. */
async function answersWith(clock: Clock, { address, port }: AddressClaim, nonce: string): Promise<boolean> {
  const over = new AbortController();
  const socket = connect({ host: address, port });
  void clock.sleep(CALL_MS, over.signal).then(() => socket.destroy());
  try {
    let said = Buffer.alloc(0);
    for await (const chunk of socket) {
      said = Buffer.concat([said, Buffer.from(chunk)]);
      if (said.length >= nonce.length) break;
    }
    return said.length === nonce.length && timingSafeEqual(said, Buffer.from(nonce));
  } catch {
    // Refused, cut off or too late: it has not answered.
    return false;
  } finally {
    over.abort();
    socket.destroy();
  }
}
