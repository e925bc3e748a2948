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
  readonly isRunning: (instanceId: number) => boolean;
  /** The next certificate for the key; throws when the server signs none. */
  readonly renewCertificate: (instanceId: number, keyPem: string) => Promise<string>;
};

/** Certificates last a day longer than their rentals, so one that is prolonged at its last moment is noticed in time. */
const LOOK_EVERY_MS = 900_000;

/** Renews certificates that are due, from time to time; the returned function ends this. */
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
  for (const instanceId of await input.disks.list()) {
    if (!input.isRunning(instanceId)) continue;
    try {
      await renew(input, instanceId);
    } catch (cause) {
      input.log.info(
        { instance_id: instanceId, problem: String(cause) },
        "the instance's certificate could not be renewed yet",
      );
    }
  }
}

async function renew(
  { clock, log, disks, renewCertificate }: CertificateKeeperInput,
  instanceId: number,
): Promise<void> {
  const certificatePem = await disks.readPlatformFile(instanceId, CERTIFICATE_FILE);
  if (certificatePem === undefined || !isDue(certificatePem, instanceId, clock.now())) return;
  const keyPem = await disks.readPlatformFile(instanceId, KEY_FILE);
  if (keyPem === undefined) return;
  const next = await renewCertificate(instanceId, keyPem);
  await disks.rewritePlatformFile(instanceId, CERTIFICATE_FILE, next);
  log.info(
    { instance_id: instanceId, until: new X509Certificate(next).validTo },
    "the instance's certificate is renewed",
  );
}

/**
 * True for a certificate of this installation past half of its time. One from elsewhere, which a renter put there, is
 * not touched.
 */
function isDue(certificatePem: string, instanceId: number, now: Date): boolean {
  if (!certificatePem.includes("BEGIN CERTIFICATE")) return false;
  const certificate = new X509Certificate(certificatePem);
  const isOurs = [`CN=Berth instance ${instanceId}`, "CN=Berth instance"].includes(certificate.subject);
  return isOurs && now.getTime() >= middleOf(certificate);
}

/** When half of the time of a certificate is over, in epoch milliseconds. */
export function middleOf({ validFrom, validTo }: X509Certificate): number {
  return (new Date(validFrom).getTime() + new Date(validTo).getTime()) / 2;
}
