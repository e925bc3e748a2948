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

/** A challenge to a host: to answer with the nonce at the public address that it names. `call` checks the answer. */
export type AddressChallenge = { readonly nonce: string; readonly call: (to: Registration) => Promise<void> };

/** Timeout of one call. */
const CALL_MS = 5_000;
/** Concurrent calls of one server; other hosts prove their address at a later connection. */
const CALLS_MAX = 8;
const NONCE_BYTES = 32;

export type ChallengeMeans = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: (size: number) => Buffer;
  /** True when the operator lets this server call addresses of its own network. */
  readonly isPrivateAllowed: boolean;
};

/**
 * Creates the challenge of each agent that connects; undefined where its connection proves enough. The result of a call
 * is told to nobody unless it is the nonce: a host that names somebody else's address learns nothing of what listens
 * there.
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

/**
 * True when this address answers with exactly the nonce. The server sends nothing and reads no more bytes than the
 * nonce has.
 */
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
    // The call was refused, cut off or timed out.
    return false;
  } finally {
    over.abort();
    socket.destroy();
  }
}
