import { AppError, notFound } from "../../../../base/errors.ts";
import type { Clock } from "../../../../base/clock.ts";
import { invariant } from "../../../../base/invariant.ts";
import { parseId, type InstanceId } from "../../../../base/ids.ts";
import { plainAddress } from "../../../../base/public-address.ts";
import type { Encryption } from "../../../../base/encryption.ts";
import type { Database } from "../../../../db/connect.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { findProvenPlace } from "../../../supply/hosts/for-instances.ts";
import { findAuthority, findLiveRental, insertAuthority } from "./certificate-store.ts";
import { createAuthority, issueCertificate, readSigningRequest, subjectOf, type Authority } from "./certificates.ts";

export type CertificatePorts = {
  readonly encryption: Encryption;
};

type Surroundings = CertificatePorts & { readonly database: Database; readonly clock: Clock };

/** An agent that listens on all addresses is certified for the address that it is reached at. */
const ANY_ADDRESS = "0.0.0.0";
const ENCRYPTION_CONTEXT = "certificate authority";

/** The certificate that renters may choose to trust, in PEM. The first call creates it. */
export async function rootCertificate({ database, clock, encryption }: Surroundings): Promise<string> {
  return (await loadAuthority(database, clock, encryption)).certificatePem;
}

async function loadAuthority(database: Database, clock: Clock, encryption: Encryption) {
  let stored = await findAuthority(database.kysely);
  if (stored === undefined) {
    const { certificatePem, keyPem } = await createAuthority(clock.now());
    const made = { certificatePem, encryptedKey: encryption.encrypt(keyPem, ENCRYPTION_CONTEXT) };
    await withTransaction(database, clock, (tx) => insertAuthority(tx, made));
    stored = await findAuthority(database.kysely);
  }
  invariant(stored !== undefined, "there is an authority once one was inserted");
  return stored;
}

/**
 * Signs the request of an instance, or of the agent in front of it: from an address that is proven to be its machine's
 * own, for these addresses, and until the rental ends. An address that a host only claims may belong to somebody else.
 */
export async function signRequest(
  { database, clock, encryption }: Surroundings,
  request: { readonly instanceId: number; readonly pem: string; readonly sourceAddress: string },
): Promise<string> {
  const id = parseId<InstanceId>(String(request.instanceId));
  const rental = id && (await findLiveRental(database.kysely, id));
  const place = rental && (await findProvenPlace(database.kysely, rental.machineId));
  // Senders at other addresses must not learn which instance is where.
  if (rental === undefined || place === undefined || !place.addresses.includes(plainAddress(request.sourceAddress))) {
    throw notFound("no_such_instance", `There is no instance ${request.instanceId} at your address.`);
  }
  const { publicKeyPem, ipAddresses } = readSigningRequest(request.pem);
  const allowed = new Set([ANY_ADDRESS, ...place.addresses]);
  const granted = new Set([place.addresses[0], ...ipAddresses.filter((address) => allowed.has(address))]);
  const stored = await loadAuthority(database, clock, encryption);
  const keyPem = encryption.decrypt(stored.encryptedKey, ENCRYPTION_CONTEXT);
  if (keyPem === undefined) {
    const reason = "The key of the certificate authority was encrypted under another secret.";
    throw new AppError("unavailable", "certificate_authority_sealed", reason);
  }
  const authority: Authority = { certificatePem: stored.certificatePem, keyPem };
  return issueCertificate(authority, clock.now(), {
    publicKeyPem,
    commonName: subjectOf(request.instanceId),
    endAt: rental.endAt,
    ipAddresses: [...granted],
  });
}
