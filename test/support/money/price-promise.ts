// A second server over the database of a test, as far as searching and renting go.
import { randomBytes } from "node:crypto";
import type { TestContext } from "node:test";
import type { Identity } from "../../../server/src/base/identity.ts";
import { createLog } from "../../../server/src/base/log.ts";
import { createEncryption } from "../../../server/src/base/encryption.ts";
import { listen } from "../../../server/src/db/listener.ts";
import { MARKET_CHANNEL } from "../../../server/src/domains/supply/hosts/for-assembly.ts";
import { OrderDesk } from "../../../server/src/domains/rental/instances/index.ts";
import { OfferTable, searchOffers, type OfferRecord } from "../../../server/src/domains/supply/market/for-assembly.ts";
import type { TestApp } from "../app.ts";

export type Shop = {
  /** The answer of a search at this server, even while its table of offers is old. */
  search(query?: Readonly<Record<string, unknown>>): readonly OfferRecord[];
  rent(identity: Identity, offerId: number, body?: object): ReturnType<OrderDesk["order"]>;
  /** Resolves when this server has read every change that it was told of. */
  settled(): Promise<void>;
};

/** A server with a table of offers and an order desk of its own. */
export async function anotherShop(t: Pick<TestContext, "after">, { env, clock }: TestApp): Promise<Shop> {
  const { database } = env;
  const log = createLog("silent");
  const table = new OfferTable(database, { clock, log });
  const desk = new OrderDesk(database, clock, {
    secret: randomBytes(32),
    encryption: createEncryption(randomBytes(32), randomBytes),
    onUsedUp: (ids) => table.retire(ids),
  });
  const listener = await listen(env.connection, new Map([[MARKET_CHANNEL, table.channel]]), { clock, log });
  await table.load();
  t.after(async () => {
    await listener.close();
    await table.stop();
  });
  return {
    search: (query = {}) => searchOffers(table.index, query, { now: clock.now(), rentedMachines: new Set() }),
    rent: (identity, offerId, body = {}) =>
      desk.order({ identity, offerId, body: { image: "busybox", disk: 10, ...body }, repeatable: undefined }),
    settled: () => table.settled(),
  };
}
