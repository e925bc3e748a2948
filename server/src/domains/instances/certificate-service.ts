import { AppError, notFound } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import { invariant } from "../../base/invariant.ts";
import { parseId, type InstanceId, type MachineId } from "../../base/ids.ts";
import type { Sealer } from "../../base/seal.ts";
import type { Database } from "../../db/connect.ts";
import { withTransaction } from "../../db/transaction.ts";
import { describeMachines } from "../hosts/index.ts";
import { findAuthority, findLiveMachineId, insertAuthority } from "./certificate-store.ts";
import { createAuthority, issueCertificate, readSigningRequest, type Authority } from "./certificates.ts";

export type CertificatePorts = {
  readonly sealer: Sealer;
  /** Where the agent of a machine is connected from; undefined when it is not connected here. */
  readonly addressOf: (machineId: MachineId) => string | undefined;
};

type Surroundings = CertificatePorts & { readonly database: Database; readonly clock: Clock };

/** Whoever serves on it is asked for by the address that it is reached at, not by this one. */
const ANY_ADDRESS = "0.0.0.0";
const SEAL_CONTEXT = "certificate authority";

/** The certificate that renters may choose to trust, in PEM. The first who asks for it makes it. */
export async function rootCertificate({ database, clock, sealer }: Omit<Surroundings, "addressOf">): Promise<string> {
  return (await loadAuthority(database, clock, sealer)).certificatePem;
}

async function loadAuthority(database: Database, clock: Clock, sealer: Sealer) {
  let stored = await findAuthority(database.kysely);
  if (stored === undefined) {
    const { certificatePem, keyPem } = await createAuthority(clock.now());
    const made = { certificatePem, sealedKey: sealer.seal(keyPem, SEAL_CONTEXT) };
    await withTransaction(database, clock, (tx) => insertAuthority(tx, made));
    stored = await findAuthority(database.kysely);
  }
  invariant(stored !== undefined, "there is an authority once one was inserted");
  return stored;
}

/** Signs what an instance, or the agent before it, asks for; only from the address of the instance's own machine. */
export async function signRequest(
  { database, clock, sealer, addressOf }: Surroundings,
  request: { readonly instanceId: number; readonly pem: string; readonly sourceAddress: string },
): Promise<string> {
  const id = parseId<InstanceId>(String(request.instanceId));
  const machineId = id && (await findLiveMachineId(database.kysely, id));
  const machine = machineId && (await describeMachines(database.kysely, [machineId])).get(machineId);
  const source = plainAddress(request.sourceAddress);
  const ownAddresses = machine ? [machine.facts.public_ipaddr, addressOf(machine.id) ?? ""].map(plainAddress) : [];
  // Whoever asks from elsewhere learns nothing about who is where.
  if (machine === undefined || !ownAddresses.includes(source)) {
    throw notFound("no_such_instance", `There is no instance ${request.instanceId} at your address.`);
  }
  const { publicKeyPem, ipAddresses } = readSigningRequest(request.pem);
  const allowed = new Set([ANY_ADDRESS, machine.facts.public_ipaddr]);
  const granted = new Set([machine.facts.public_ipaddr, ...ipAddresses.filter((address) => allowed.has(address))]);
  const stored = await loadAuthority(database, clock, sealer);
  const keyPem = sealer.open(stored.sealedKey, SEAL_CONTEXT);
  if (keyPem === undefined) {
    const reason = "The key of the certificate authority was sealed under another secret.";
    throw new AppError("unavailable", "certificate_authority_sealed", reason);
  }
  const authority: Authority = { certificatePem: stored.certificatePem, keyPem };
  return issueCertificate(authority, clock.now(), {
    publicKeyPem,
    commonName: `Berth instance ${request.instanceId}`,
    ipAddresses: [...granted],
  });
}

/** IPv4 addresses come as IPv6 ones from sockets that serve both. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/, "");
}
