import { createHmac } from "node:crypto";

/**
 * A digest of the servers' secret that the database stores: enough to tell whether another server has the same secret,
 * and useless for decrypting anything.
 */
export function secretCheckOf(secret: Buffer): Buffer {
  return createHmac("sha256", secret).update("berth: all servers of one database share this secret").digest();
}
