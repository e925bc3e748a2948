import { createHmac, createSecretKey, hkdfSync, timingSafeEqual } from "node:crypto";
import { asId, type UserId } from "../../../base/ids.ts";

/** Seconds for which a token is good. */
export const VALID_S = 3_600;

/**
 * Makes and reads the tokens with which the files of one contract's backups are fetched. Nothing is stored for them, so
 * every server with the same secret accepts them.
 */
export type FileTokens = {
  readonly make: (owner: { readonly userId: UserId; readonly contractId: number }, now: Date) => string;
  /** The owner that a token was made for; undefined when it is for another contract, has expired, or was never issued. */
  readonly read: (token: string, contractId: number, now: Date) => UserId | undefined;
};

export function fileTokens(secret: Buffer): FileTokens {
  const key = createSecretKey(Buffer.from(hkdfSync("sha256", secret, "", "berth backup files 1", 32)));
  const sign = (contractId: number, claim: string) =>
    createHmac("sha256", key).update(`${contractId} ${claim}`).digest("base64url");
  return {
    make({ userId, contractId }, now) {
      const claim = `${userId}.${Math.ceil(now.getTime() / 1000) + VALID_S}`;
      return `${claim}.${sign(contractId, claim)}`;
    },
    read(token, contractId, now) {
      const [, claim = "", id, until, signature = ""] = /^(([1-9]\d{0,9})\.(\d{1,12}))\.([\w-]{43})$/.exec(token) ?? [];
      // The texts are compared, not the bytes: several spellings decode to the same bytes, and this server issued one.
      const [given, right] = [Buffer.from(signature), Buffer.from(sign(contractId, claim))];
      if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
      return now.getTime() < Number(until) * 1000 ? asId<UserId>(Number(id)) : undefined;
    },
  };
}
