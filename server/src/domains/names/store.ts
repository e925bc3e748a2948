import { sql } from "kysely";
import type { Reader, Tx } from "../../db/transaction.ts";

/** The channel on which servers hear that there is a new certificate. */
export const CERTIFICATES_CHANNEL = "berth_certificates";

export type CertificateRow = {
  readonly name: string;
  readonly chainPem: string;
  readonly encryptedKey: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
};

/** A name with its certificate, if there is one, and the reason why there is no newer one. */
export type NameStanding = {
  readonly name: string;
  readonly certificate: CertificateRow | undefined;
  readonly failureCount: number;
  readonly problem: string | undefined;
};

export async function listNames(db: Reader): Promise<readonly NameStanding[]> {
  const rows = await db
    .selectFrom("served_certificates")
    .select(["name", "chain_pem", "encrypted_key", "issued_at", "expires_at", "failure_count", "problem"])
    .orderBy("name")
    .execute();
  return rows.map(({ name, chain_pem, encrypted_key, issued_at, expires_at, failure_count, problem }) => ({
    name,
    certificate:
      chain_pem === null || encrypted_key === null || issued_at === null || expires_at === null
        ? undefined
        : { name, chainPem: chain_pem, encryptedKey: encrypted_key, issuedAt: issued_at, expiresAt: expires_at },
    failureCount: failure_count,
    problem: problem ?? undefined,
  }));
}

/** Enters a name that is to have a certificate; one that is there stays as it is. */
export async function insertName(tx: Tx, name: string): Promise<void> {
  await tx.db
    .insertInto("served_certificates")
    .values({ name, order_at: tx.now })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
}

/** Takes the order of a certificate that is due, unless another server has it; returns the failures before. */
export async function claimOrder(
  tx: Tx,
  name: string,
  { token, leaseMs }: { readonly token: string; readonly leaseMs: number },
): Promise<{ readonly failureCount: number } | undefined> {
  const row = await tx.db
    .updateTable("served_certificates")
    .set({ lease_token: token, lease_until_at: new Date(tx.now.getTime() + leaseMs) })
    .where("name", "=", name)
    .where("order_at", "<=", tx.now)
    .where((where) => where.or([where("lease_until_at", "is", null), where("lease_until_at", "<=", tx.now)]))
    .returning("failure_count")
    .executeTakeFirst();
  return row && { failureCount: row.failure_count };
}

export type Issued = Omit<CertificateRow, "name"> & { readonly orderAt: Date };

/** Stores a certificate and tells every server. It counts although the lease is over: a newer one replaces it anyway. */
export async function storeIssued(tx: Tx, name: string, issued: Issued): Promise<void> {
  await tx.db
    .updateTable("served_certificates")
    .set({
      chain_pem: issued.chainPem,
      encrypted_key: issued.encryptedKey,
      issued_at: issued.issuedAt,
      expires_at: issued.expiresAt,
      order_at: issued.orderAt,
      ...{ failure_count: 0, problem: null, lease_token: null, lease_until_at: null },
    })
    .where("name", "=", name)
    .execute();
  await sql`select pg_notify(${CERTIFICATES_CHANNEL}, ${name})`.execute(tx.db);
}

/** Notes that an order failed. The certificate that is there stays; the word of a server that lost its lease counts for nothing. */
export async function storeFailure(
  tx: Tx,
  name: string,
  failure: { readonly token: string; readonly problem: string; readonly orderAt: Date },
): Promise<void> {
  await tx.db
    .updateTable("served_certificates")
    .set((set) => ({
      failure_count: set("failure_count", "+", 1),
      problem: failure.problem,
      order_at: failure.orderAt,
      ...{ lease_token: null, lease_until_at: null },
    }))
    .where("name", "=", name)
    .where("lease_token", "=", failure.token)
    .execute();
}

/** The account's key at an authority: the one that is stored, or else this one. */
export async function keepAccountKey(tx: Tx, directoryUrl: string, encryptedKey: string): Promise<string> {
  await tx.db
    .insertInto("acme_accounts")
    .values({ directory_url: directoryUrl, encrypted_key: encryptedKey, created_at: tx.now })
    .onConflict((conflict) => conflict.column("directory_url").doNothing())
    .execute();
  const kept = await tx.db
    .selectFrom("acme_accounts")
    .select("encrypted_key")
    .where("directory_url", "=", directoryUrl)
    .executeTakeFirstOrThrow();
  return kept.encrypted_key;
}

export async function insertChallenge(
  tx: Tx,
  {
    token,
    keyAuthorization,
    expiresAt,
  }: { readonly token: string; readonly keyAuthorization: string; readonly expiresAt: Date },
): Promise<void> {
  await tx.db.deleteFrom("acme_challenges").where("expires_at", "<", tx.now).execute();
  await tx.db
    .insertInto("acme_challenges")
    .values({ token, key_authorization: keyAuthorization, expires_at: expiresAt })
    .onConflict((conflict) =>
      conflict.column("token").doUpdateSet({ key_authorization: keyAuthorization, expires_at: expiresAt }),
    )
    .execute();
}

export async function deleteChallenge(tx: Tx, token: string): Promise<void> {
  await tx.db.deleteFrom("acme_challenges").where("token", "=", token).execute();
}

/** The answer to a challenge of an order of any server; undefined when there is none. */
export async function findChallenge(db: Reader, token: string, now: Date): Promise<string | undefined> {
  const row = await db
    .selectFrom("acme_challenges")
    .select("key_authorization")
    .where("token", "=", token)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return row?.key_authorization;
}
