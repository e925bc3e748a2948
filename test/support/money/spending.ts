import assert from "node:assert/strict";
import { withTransaction } from "../../../server/src/db/transaction.ts";
import { creditOf, earningsOf, postTransfers } from "../../../server/src/domains/money/ledger/index.ts";
import type { TestCaller } from "../fixtures.ts";
import { transferOf } from "./ledger.ts";
import type { PaymentShop } from "./payments.ts";

const DOLLAR = 1_000_000_000n;

/** Charges a renter for usage at a host: the transfer and its charge line. */
export async function spendAt(
  shop: PaymentShop,
  { renter, host, dollars }: { readonly renter: TestCaller; readonly host: TestCaller; readonly dollars: number },
): Promise<void> {
  const amount = BigInt(dollars) * DOLLAR;
  const sides = { debit: creditOf(renter.id), credit: earningsOf(host.id), amount, code: "usage_gpu" } as const;
  const [posted] = await withTransaction(shop.env.database, shop.clock, (tx) => postTransfers(tx, [transferOf(sides)]));
  assert.equal(posted?.kind, "posted");
  await shop.env.pool.query(
    `insert into charge_lines (transfer_id, payer_id, host_id, volume_id, component, state, cause, from_at, to_at, quantity, size_bytes,
       unit_price_nanos, amount_nanos, paid_from, charged_at)
     values ($5, $1, $2, 1, 'disk', 'stored', 'rented', $3, $3, 0, 1, 0, $4, 'credit', $3)`,
    [renter.id, host.id, shop.clock.now(), amount, posted.transferId],
  );
}
