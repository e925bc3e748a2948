import { forbidden, type AppError } from "../../../../base/errors.ts";
import type { ApiKeyId } from "../../../../base/ids.ts";
import { MicroBatcher } from "../../../../base/micro-batcher.ts";
import type { Database } from "../../../../db/connect.ts";
import { listCappedAmong, type CapScope } from "../../ledger/index.ts";

const KEYS_BATCH_MAX = 500;

/** Why this key may not give credit away; undefined when it may. */
export type RefuseCapped = (apiKeyId: ApiKeyId) => Promise<AppError | undefined>;

/**
 * What is given away is not spent, so no cap would bear it: a key that is limited gives nothing away. Questions that
 * arrive together are one statement.
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
    return isCapped
      ? forbidden("A key with a cap transfers no credit: that would pass the cap. Use another key of the account.")
      : undefined;
  };
}
