// A process full of renters who want the same few offers: an order desk of its own over the database of a test.
import { randomBytes } from "node:crypto";
import { AppError } from "../../server/src/base/errors.ts";
import type { Identity } from "../../server/src/base/identity.ts";
import { createLog } from "../../server/src/base/log.ts";
import { createEncryption } from "../../server/src/base/encryption.ts";
import { connect } from "../../server/src/db/connect.ts";
import { OrderDesk } from "../../server/src/domains/rental/instances/index.ts";
import { ManualClock } from "./manual-clock.ts";
import { aFactKeeper } from "./database/facts.ts";

/** The first message: where the database is, who rents, and which random numbers to use. */
export type CrowdStart = { readonly url: string; readonly identities: readonly Identity[]; readonly seed: number };
/** Every later message: this many attempts at once, each at one of these offers. */
export type Rush = { readonly offerIds: readonly number[]; readonly attemptCount: number; readonly nowMs: number };
export type RushOutcome = {
  readonly attemptCount: number;
  readonly successes: readonly { readonly id: number; readonly isBid: boolean; readonly renter: number }[];
  /** How often each refusal was given, by its kind and code. */
  readonly refusals: Readonly<Record<string, number>>;
};

const [BID_CENTS_MIN, BID_CENTS_MAX] = [15, 55];

/** Random numbers that depend on the seed only. */
function dice(seed: number): (sides: number) => number {
  let state = seed >>> 0;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
}

function openCrowd({ url, identities, seed }: CrowdStart) {
  const clock = new ManualClock(0);
  const database = connect({ connectionString: url }, createLog("silent"), aFactKeeper());
  const desk = new OrderDesk(database, clock, {
    secret: randomBytes(32),
    encryption: createEncryption(randomBytes(32), randomBytes),
  });
  const roll = dice(seed);

  return async ({ offerIds, attemptCount, nowMs }: Rush): Promise<RushOutcome> => {
    clock.jump(nowMs - clock.now().getTime());
    const successes: RushOutcome["successes"][number][] = [];
    const refusals: Record<string, number> = {};
    let count = 0;
    const attempt = async (): Promise<void> => {
      count += 1;
      const renter = roll(identities.length);
      const isBid = roll(3) === 0;
      const bid = isBid
        ? { price: (BID_CENTS_MIN + roll(BID_CENTS_MAX - BID_CENTS_MIN)) / 100, cancel_unavail: true }
        : {};
      const offerId = offerIds[roll(offerIds.length)] ?? 0;
      const identity = identities[renter];
      if (identity === undefined) throw new Error("somebody has to rent");
      try {
        const body = { image: "busybox", runtype: "args", ...bid };
        const answer = await desk.order({ identity, offerId, body, repeatable: undefined });
        successes.push({ id: answer.new_contract, isBid, renter });
      } catch (error) {
        const name = error instanceof AppError ? `${error.kind} ${error.code}` : String(error);
        refusals[name] = (refusals[name] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: attemptCount }, attempt));
    return { attemptCount: count, successes, refusals };
  };
}

let rush: ReturnType<typeof openCrowd> | undefined;

process.on("message", (message: CrowdStart | Rush) => {
  if ("url" in message) rush = openCrowd(message);
  else void rush?.(message).then((outcome) => process.send?.(outcome));
});
// This process ends with the test that started it.
process.on("disconnect", () => process.exit(0));
