import { forbidden, type AppError } from "../../../../base/errors.ts";
import type { ApiKeyId } from "../../../../base/ids.ts";
import { MicroBatcher } from "../../../../base/micro-batcher.ts";
import type { Database } from "../../../../db/connect.ts";
import { listCappedAmong, type CapScope } from "../../ledger/index.ts";

const KEYS_BATCH_MAX = 500;

/** The refusal of a credit transfer by this key; undefined when the key may transfer credit. */
export type RefuseCapped = (apiKeyId: ApiKeyId) => Promise<AppError | undefined>;

/**
 * Refuses credit transfers by keys with a cap: a transfer is no spending, so it would escape the cap. Questions that
 * arrive together share one statement.
 */
export function createCapCheck(database: Database): RefuseCapped {
  const batcher = new MicroBatcher<CapScope, boolean>({
    maxBatch: KEYS_BATCH_MAX,
    run: async (scopes) => {
      const capped = await listCappedAmong(database.kysely, scopes);
      return scopes.map((scope) => capped.has(scope));
    },
  });
  return async (apiKeyId) => {
    const isCapped = await batcher.submit(`key:${apiKeyId}`);
    return isCapped ? forbidden("A key with a cap cannot transfer credit. Use another key of the account.") : undefined;
  };
}
