import { AppError } from "../../../base/errors.ts";
import type { Clock } from "../../../base/clock.ts";
import { invariant } from "../../../base/invariant.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { findSigningKey, insertSigningKey } from "./route-store.ts";
import { createSigningKey, UrlSigner } from "./signed-url.ts";

const ENCRYPTION_CONTEXT = "route signing key";
const SIGNATURES_KEPT = 50_000;

/** Loads the key that signs routes, once. The first server that needs it creates it. */
export function signerLoader(ports: {
  readonly database: Database;
  readonly clock: Clock;
  readonly encryption: Encryption;
}) {
  let loading: Promise<UrlSigner> | undefined;
  return (): Promise<UrlSigner> => {
    loading ??= loadSigner(ports).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

async function loadSigner({
  database,
  clock,
  encryption,
}: {
  readonly database: Database;
  readonly clock: Clock;
  readonly encryption: Encryption;
}): Promise<UrlSigner> {
  let stored = await findSigningKey(database.kysely);
  if (stored === undefined) {
    const { privateKeyPem, publicKeyPem } = await createSigningKey();
    const made = { encryptedPrivateKey: encryption.encrypt(privateKeyPem, ENCRYPTION_CONTEXT), publicKeyPem };
    await withTransaction(database, clock, (tx) => insertSigningKey(tx, made));
    stored = await findSigningKey(database.kysely);
  }
  invariant(stored !== undefined, "there is a key once one was inserted");
  const privateKeyPem = encryption.decrypt(stored.encryptedPrivateKey, ENCRYPTION_CONTEXT);
  if (privateKeyPem === undefined) {
    const reason = "The key that signs routes was encrypted under another secret.";
    throw new AppError("unavailable", "route_signing_key_sealed", reason);
  }
  return new UrlSigner({ privateKeyPem, publicKeyPem: stored.publicKeyPem }, SIGNATURES_KEPT);
}
