import type { Clock } from "../../../../base/clock.ts";
import { notFound } from "../../../../base/errors.ts";
import type { Identity } from "../../../../base/identity.ts";
import { parseId, type ApiKeyId, type UserId } from "../../../../base/ids.ts";
import type { Database } from "../../../../db/connect.ts";
import type { ChannelHandler } from "../../../../db/listener.ts";
import { admitCookie, type CookieCaller, type HeldSession } from "./cookie-callers.ts";
import { IdentityMemory } from "./identity-memory.ts";
import { findHeld } from "./identity-store.ts";
import { secretOfCookie } from "./rules/cookie-value.ts";
import { hashCookieSecret, hashSecret, isWellFormed, type RandomBytes } from "./rules/keys.ts";

/** Channel on which the database announces changed keys (migration 0010): `key:<id>` or `user:<id>`. */
export const API_KEYS_CHANNEL = "api_keys_changed";

const REMEMBERED_MAX = 50_000;
/** How long a deleted key may still work in a process that missed the notification. */
const REMEMBERED_MS = 60_000;

export type Identities = {
  /**
   * The identity behind a secret; undefined when it is wrong or deleted, or its user is gone. Throws `auth_error` for a
   * session that is over. Most keys are remembered; `pause` is awaited before the database is asked.
   */
  authenticate(secret: string, pause?: () => Promise<void>): Promise<Identity | undefined>;
  /**
   * The caller behind the value of a session cookie; undefined when it is wrong, or the session has ended or is over. A value
   * that the browser has replaced a while ago ends its session.
   */
  authenticateCookie(
    value: string,
    asked: { readonly ipAddress: string; readonly pause?: () => Promise<void> },
  ): Promise<CookieCaller | undefined>;
  /** Drops the remembered identity of a key. Call it after the commit that changes the key, before answering. */
  readonly forget: (keyId: ApiKeyId) => void;
  /** Drops the remembered identities of all keys of an account, as after a change of its members' permissions. */
  readonly forgetUser: (userId: UserId) => void;
  /** Drops all remembered identities, as after a freeze, which holds for subaccounts and in teams as well. */
  readonly forgetAll: () => void;
  /** Handler of `API_KEYS_CHANNEL` that drops keys which other processes changed. */
  readonly channelHandler: ChannelHandler;
};

type Options = {
  readonly database: Database;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly rememberedMax?: number;
};

/** The refusal of a session that is over: published clients drop its key at exactly this status and sentence. */
function sessionExpired() {
  return notFound("auth_error", "Session expired. Please log in again.");
}

/** Resolves keys to callers with bounded memory. Only keys that exist are remembered, so guessing cannot fill it. */
export function createIdentities(options: Options): Identities {
  const { database, clock, rememberedMax = REMEMBERED_MAX } = options;
  const memory = new IdentityMemory({ entriesMax: rememberedMax, rememberedMs: REMEMBERED_MS });
  const underWay = new Map<string, Promise<HeldSession | undefined>>();
  let changeCount = 0;

  /** Identities that were read before a change must not be remembered, or waited for, after it. */
  const noteChange = () => {
    changeCount += 1;
    underWay.clear();
  };
  const read = async (sha256: Buffer, hash: string, pause: (() => Promise<void>) | undefined) => {
    if (pause !== undefined) await pause();
    const changeCountBefore = changeCount;
    const held = await findHeld(database.kysely, sha256);
    if (held !== undefined && changeCountBefore === changeCount) memory.remember(hash, held, clock.monotonicMs());
    return held;
  };
  const forget = (keyId: ApiKeyId) => {
    noteChange();
    memory.forgetKey(keyId);
  };
  const forgetUser = (userId: UserId) => {
    noteChange();
    memory.forgetUser(userId);
  };
  const forgetAll = () => {
    noteChange();
    memory.forgetAll();
  };

  const refuseExpired = (identity: Identity | undefined): Identity | undefined => {
    const { session } = identity ?? {};
    if (session !== undefined && session.expiresAt <= clock.now()) throw sessionExpired();
    return identity;
  };

  const find = async (sha256: Buffer, pause: (() => Promise<void>) | undefined) => {
    const hash = sha256.toString("base64");
    const known = memory.find(hash, clock.monotonicMs()) ?? underWay.get(hash);
    if (known !== undefined) return known;
    const asked = read(sha256, hash, pause).finally(() => {
      if (underWay.get(hash) === asked) underWay.delete(hash);
    });
    underWay.set(hash, asked);
    return asked;
  };

  return {
    async authenticate(secret, pause) {
      return isWellFormed(secret) ? refuseExpired((await find(hashSecret(secret), pause))?.identity) : undefined;
    },
    async authenticateCookie(value, { ipAddress, pause }) {
      const secret = secretOfCookie(value);
      if (!isWellFormed(secret)) return undefined;
      const sha256 = hashCookieSecret(secret);
      const held = await find(sha256, pause);
      if (held?.identity.session === undefined || held.identity.session.expiresAt <= clock.now()) return undefined;
      const reread = () => {
        forget(held.identity.apiKeyId);
        return find(sha256, undefined);
      };
      return admitCookie(options, { value, ipAddress, held, isFresh: false, reread });
    },
    forget,
    forgetUser,
    forgetAll,
    channelHandler: handlerOf({ forget, forgetUser, forgetAll }),
  };
}

/** Drops what other processes changed. */
function handlerOf({
  forget,
  forgetUser,
  forgetAll,
}: Pick<Identities, "forget" | "forgetUser" | "forgetAll">): ChannelHandler {
  return {
    onMessage(payload) {
      const [kind, text = ""] = payload.split(":");
      const keyId = kind === "key" ? parseId<ApiKeyId>(text) : undefined;
      const userId = kind === "user" ? parseId<UserId>(text) : undefined;
      if (keyId !== undefined) return forget(keyId);
      if (userId === undefined) return forgetAll();
      forgetUser(userId);
    },
    onGap: forgetAll,
  };
}
