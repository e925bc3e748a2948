/**
 * A process of its own that posts transfers until it is killed, and says on stdout which were acknowledged. Arguments:
 * database URL, id of the payer, id of the payee, number of callers. The n-th transfer has the key `load-n` and moves
 * `loadAmount(n)`, so that a reader of the ledger can tell what was asked for from what was made up.
 */
import { writeSync } from "node:fs";
import { systemClock } from "../../../server/src/base/clock.ts";
import { parseId, type UserId } from "../../../server/src/base/ids.ts";
import { createLog } from "../../../server/src/base/log.ts";
import { connect } from "../../../server/src/db/connect.ts";
import { createTransferPoster, creditOf } from "../../../server/src/domains/money/ledger/index.ts";
import { transferOf } from "./ledger.ts";
import { aFactKeeper } from "../database/facts.ts";

const STDOUT = 1;

export function loadAmount(n: number): bigint {
  return BigInt((n % 97) + 1);
}

async function load(url: string, payer: UserId, payee: UserId, callers: number): Promise<void> {
  const database = connect({ connectionString: url }, createLog("silent"), aFactKeeper());
  const poster = createTransferPoster(database, systemClock);
  let count = 0;
  const call = async () => {
    for (;;) {
      const n = (count += 1);
      const content = { debit: creditOf(payer), credit: creditOf(payee), amount: loadAmount(n), key: `load-${n}` };
      const outcome = await poster.post(transferOf(content));
      // A synchronous write, so that an acknowledgement is out before the process can be killed.
      if (outcome.kind === "posted") writeSync(STDOUT, `${n}\n`);
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
}

if (import.meta.main) {
  const [url = "", payer = "", payee = "", callers = "1"] = process.argv.slice(2);
  const payerId = parseId<UserId>(payer);
  const payeeId = parseId<UserId>(payee);
  if (payerId === undefined || payeeId === undefined) throw new Error("payer and payee are ids of users");
  await load(url, payerId, payeeId, Number(callers));
}
