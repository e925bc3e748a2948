import type { Clock } from "../../base/clock.ts";
import type { Identity } from "../../base/identity.ts";
import { parseId, type ApiKeyId, type UserId } from "../../base/ids.ts";
import type { Database } from "../../db/connect.ts";
import type { ChannelHandler } from "../../db/listener.ts";
import { findIdentity } from "./key-store.ts";
import { hashSecret, isWellFormed } from "./keys.ts";

/** Where the database says which keys changed (migration 0010): `key:<id>` or `user:<id>`. */
export const API_KEYS_CHANNEL = "api_keys_changed";

const REMEMBERED_MAX = 50_000;
/** How long a key may outlive its deletion in a process that the notification did not reach. */
const REMEMBERED_MS = 60_000;

export type Identities = {
  /** Whom the secret stands for; undefined when it is wrong, deleted, or its user is gone. Remembered: most calls ask nobody. */
  authenticate(secret: string): Promise<Identity | undefined>;
  /** Makes this process ask again for the key. Call it after the commit that changes the key, before answering. */
  forget(keyId: ApiKeyId): void;
  /** Does the same for changes made elsewhere; to be put at `API_KEYS_CHANNEL` of the listener. */
  readonly channelHandler: ChannelHandler;
};

type Remembered = { readonly identity: Identity; readonly untilMs: number };

/** Resolves keys to callers with a bounded memory. Only keys that exist are remembered, so guessing cannot fill it. */
export function createIdentities({
  database,
  clock,
  rememberedMax = REMEMBERED_MAX,
}: {
  readonly database: Database;
  readonly clock: Clock;
  readonly rememberedMax?: number;
}): Identities {
  const byHash = new Map<string, Remembered>();
  const hashByKeyId = new Map<ApiKeyId, string>();
  const underWay = new Map<string, Promise<Identity | undefined>>();
  // What was read before a change must not be remembered after it.
  let changeCount = 0;

  const drop = (hash: string) => {
    const known = byHash.get(hash);
    if (known === undefined) return;
    byHash.delete(hash);
    hashByKeyId.delete(known.identity.apiKeyId);
  };
  const remember = (hash: string, identity: Identity) => {
    drop(hash);
    for (const oldest of byHash.keys()) {
      if (byHash.size < rememberedMax) break;
      drop(oldest);
    }
    byHash.set(hash, { identity, untilMs: clock.monotonicMs() + REMEMBERED_MS });
    hashByKeyId.set(identity.apiKeyId, hash);
  };
  const noteChange = () => {
    changeCount += 1;
    underWay.clear();
  };
  const forget = (keyId: ApiKeyId) => {
    noteChange();
    const hash = hashByKeyId.get(keyId);
    if (hash !== undefined) drop(hash);
  };
  const forgetUser = (userId: UserId) => {
    noteChange();
    for (const [hash, { identity }] of byHash) if (identity.userId === userId) drop(hash);
  };
  const forgetAll = () => {
    noteChange();
    byHash.clear();
    hashByKeyId.clear();
  };

  const read = async (sha256: Buffer, hash: string) => {
    const changeCountBefore = changeCount;
    const identity = await findIdentity(database.kysely, sha256);
    if (identity !== undefined && changeCountBefore === changeCount) remember(hash, identity);
    return identity;
  };

  return {
    async authenticate(secret) {
      if (!isWellFormed(secret)) return undefined;
      const sha256 = hashSecret(secret);
      const hash = sha256.toString("base64");
      const known = byHash.get(hash);
      if (known !== undefined && clock.monotonicMs() < known.untilMs) return known.identity;
      const earlier = underWay.get(hash);
      if (earlier !== undefined) return earlier;
      const asked = read(sha256, hash).finally(() => {
        if (underWay.get(hash) === asked) underWay.delete(hash);
      });
      underWay.set(hash, asked);
      return asked;
    },
    forget,
    channelHandler: {
      onMessage(payload) {
        const [kind, text = ""] = payload.split(":");
        const keyId = kind === "key" ? parseId<ApiKeyId>(text) : undefined;
        const userId = kind === "user" ? parseId<UserId>(text) : undefined;
        if (keyId !== undefined) forget(keyId);
        else if (userId !== undefined) forgetUser(userId);
        else forgetAll();
      },
      onGap: forgetAll,
    },
  };
}
