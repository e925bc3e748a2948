import { X509Certificate } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import type { Disks } from "../disks/index.ts";
import type { Log } from "../base/log.ts";

export const CERTIFICATE_FILE = "instance.crt";
export const KEY_FILE = "instance.key";

export type CertificateKeeperInput = {
  readonly clock: Clock;
  readonly log: Log;
  readonly disks: Pick<Disks, "list" | "readPlatformFile" | "rewritePlatformFile">;
  readonly isRunning: (instance_id: number) => boolean;
  /** The next certificate for the key; throws when the server signs none. */
  readonly renewCertificate: (instance_id: number, key_pem: string) => Promise<string>;
};

/** Certificates last a day longer than their rentals, so one that is prolonged at its last moment is noticed in time. */
const LOOK_EVERY_MS = 900_000;

/** Looks from time to time whether a certificate is due; returns what ends this. */
export function keepCertificates(input: CertificateKeeperInput): () => void {
  let isLooking = false;
  return input.clock.every(LOOK_EVERY_MS, () => {
    if (isLooking) return;
    isLooking = true;
    void renewCertificates(input).finally(() => (isLooking = false));
  });
}

/**
 * Renews the certificates that lie in running containers once half of their time is over: each is good for no longer than the
 * rental was when it was signed, and the rental may have been prolonged. The file in the container changes and its key
 * stays, so at no moment is there a certificate that does not fit its key.
 */
export async function renewCertificates(input: CertificateKeeperInput): Promise<void> {
  for (const instance_id of await input.disks.list()) {
    if (!input.isRunning(instance_id)) continue;
    try {
      await renew(input, instance_id);
    } catch (cause) {
      input.log.info({ instance_id, problem: String(cause) }, "its certificate is not renewed yet");
    }
  }
}

async function renew(
  { clock, log, disks, renewCertificate }: CertificateKeeperInput,
  instance_id: number,
): Promise<void> {
  const certificate_pem = await disks.readPlatformFile(instance_id, CERTIFICATE_FILE);
  if (certificate_pem === undefined || !isDue(certificate_pem, instance_id, clock.now())) return;
  const key_pem = await disks.readPlatformFile(instance_id, KEY_FILE);
  if (key_pem === undefined) return;
  const next = await renewCertificate(instance_id, key_pem);
  await disks.rewritePlatformFile(instance_id, CERTIFICATE_FILE, next);
  log.info({ instance_id, until: new X509Certificate(next).validTo }, "its certificate is renewed");
}

/** A renter may put a certificate from elsewhere into the file; that one is not touched. */
function isDue(certificate_pem: string, instance_id: number, now: Date): boolean {
  if (!certificate_pem.includes("BEGIN CERTIFICATE")) return false;
  const certificate = new X509Certificate(certificate_pem);
  const isOurs = [`CN=Berth instance ${instance_id}`, "CN=Berth instance"].includes(certificate.subject);
  return isOurs && now.getTime() >= middleOf(certificate);
}

/** When half of the time of a certificate is over, in epoch milliseconds. */
export function middleOf({ validFrom, validTo }: X509Certificate): number {
  return (new Date(validFrom).getTime() + new Date(validTo).getTime()) / 2;
}
