import type { Clock } from "../base/clock.ts";
import type { Encryption } from "../base/encryption.ts";
import type { Log } from "../base/log.ts";
import type { Database } from "../db/connect.ts";
import { platformFeeOf, type PaymentSettings } from "../domains/money/payments/for-assembly.ts";
import { OrderDesk } from "../domains/rental/instances/index.ts";
import { OfferTable } from "../domains/supply/market/for-assembly.ts";
import { listRentableSpace } from "../domains/supply/volumes/for-assembly.ts";

type Means = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly secret: Buffer;
  readonly payments?: PaymentSettings;
};

export function createOffers({ database, clock, log, payments }: Means): OfferTable {
  return new OfferTable(database, {
    clock,
    log,
    listVolumeSpace: (db, ids) => listRentableSpace(db, ids, clock.now()),
    platformFee: platformFeeOf(payments),
  });
}

/** Rents what these offers show. */
export function createDesk({ database, clock, secret }: Means, encryption: Encryption, offers: OfferTable): OrderDesk {
  return new OrderDesk(database, clock, {
    secret,
    encryption,
    onUsedUp: (ids) => offers.retire(ids),
    bundleOf: (id) => offers.index.bundleOf(id),
  });
}
