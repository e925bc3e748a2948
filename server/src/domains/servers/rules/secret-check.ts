import { createHmac } from "node:crypto";

/**
 * What the database keeps of the servers' secret: enough to tell whether another server has the same one, and nothing
 * that opens anything.
 */
export function secretCheckOf(secret: Buffer): Buffer {
  return createHmac("sha256", secret).update("berth: all servers of one database share this secret").digest();
}
