import { createHash } from "node:crypto";
import type { SecureContext } from "node:tls";
import type { Clock } from "../../base/clock.ts";
import type { Encryption } from "../../base/encryption.ts";
import type { Log } from "../../base/log.ts";
import type { Database } from "../../db/connect.ts";
import { withTransaction, type Tx } from "../../db/transaction.ts";
import { makeKey, orderCertificate, type AcmeSettings, type ChallengeKind, type PresentedChallenge } from "./acme.ts";
import { FileCertificates, type CertificateFiles } from "./certificate-files.ts";
import { runDnsHook } from "./dns-hook.ts";
import { isCloseToItsEnd, renewalAt, retryAt } from "./rules/renewal.ts";
import { ServedCertificate } from "./served-certificate.ts";
import {
  claimOrder,
  deleteChallenge,
  findChallenge,
  insertChallenge,
  insertName,
  keepAccountKey,
  listNames,
  storeFailure,
  storeIssued,
  type CertificateRow,
  type NameStanding,
} from "./store.ts";

export type WantedName = { readonly name: string; readonly challenge: ChallengeKind };

export type NameSettings = {
  /** Names that servers answer to, the main one first. */
  readonly wanted: readonly WantedName[];
  /** The authority; undefined when all certificates come from files. */
  readonly acme: AcmeSettings | undefined;
  /** The operator's program that sets records in DNS. */
  readonly dnsHook: string | undefined;
  readonly files: readonly CertificateFiles[];
};

export type NameMeans = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly encryption: Encryption;
  readonly random: (byteCount: number) => Buffer;
};

/** A name with the certificate that it is served with, for metrics. */
export type NameState = {
  readonly name: string;
  readonly expiresAt: Date | undefined;
  readonly failureCount: number;
};

/** Longer than an order takes with the slowest DNS program; a server that dies during one delays the next by so much. */
const LEASE_MS = 900_000;
/** An authority asks within minutes, or not at all. */
const CHALLENGE_KEPT_MS = 3_600_000;
const PROBLEM_LENGTH_MAX = 500;
const TOKEN = /^[A-Za-z0-9_-]{1,256}$/;

/** The names that this server answers to by TLS, with their certificates. */
export class ServedNames {
  readonly #settings: NameSettings;
  readonly #means: NameMeans;
  readonly #files: FileCertificates;
  readonly #stopping = new AbortController();
  /** Certificates of the database by their chain, so that each is made ready once. */
  readonly #issued = new Map<string, ServedCertificate>();
  #standing: readonly NameStanding[] = [];
  #order: Promise<void> | undefined;

  constructor(settings: NameSettings, means: NameMeans) {
    this.#settings = settings;
    this.#means = means;
    this.#files = new FileCertificates(settings.files);
  }

  /** The certificate for a client that asks for this name; for an unknown name that of the main one, which the client refuses. */
  contextFor(host: string): SecureContext | undefined {
    const main = this.#settings.wanted[0]?.name;
    return (this.#certificateFor(host) ?? this.#certificateFor(main))?.context;
  }

  /** The answer to a challenge of an authority; undefined for one that no server waits for. */
  async answerTo(token: string): Promise<string | undefined> {
    const { database, clock } = this.#means;
    return TOKEN.test(token) ? findChallenge(database.kysely, token, clock.now()) : undefined;
  }

  states(): readonly NameState[] {
    return this.#settings.wanted.map(({ name }) => ({
      name,
      expiresAt: this.#certificateFor(name)?.expiresAt,
      failureCount: this.#standing.find((standing) => standing.name === name)?.failureCount ?? 0,
    }));
  }

  /** Sentences about certificates that are missing or end soon, and about files that cannot be read. */
  warnings(): readonly string[] {
    const now = this.#means.clock.now();
    const ofNames = this.#settings.wanted.flatMap(({ name }) => {
      const certificate = this.#certificateFor(name);
      const problem = this.#standing.find((standing) => standing.name === name)?.problem;
      const why = problem === undefined ? "" : ` (${problem})`;
      if (certificate === undefined) return [`there is no certificate for ${name} yet${why}`];
      if (certificate.expiresAt <= now)
        return [`the certificate for ${name} ended ${dayOf(certificate.expiresAt)}${why}`];
      if (!isCloseToItsEnd(certificate, now)) return [];
      return [`the certificate for ${name} ends ${dayOf(certificate.expiresAt)} and has not been renewed${why}`];
    });
    return [...ofNames, ...this.#files.problems];
  }

  /** Reads the certificates of files and database. */
  async load(): Promise<void> {
    await this.#files.reload();
    const standing = await listNames(this.#means.database.kysely);
    const chains = new Set(standing.map(({ certificate }) => certificate?.chainPem));
    for (const chain of this.#issued.keys()) if (!chains.has(chain)) this.#issued.delete(chain);
    for (const { certificate } of standing) if (certificate !== undefined) this.#take(certificate);
    this.#standing = standing;
  }

  /** Begins an order for a name whose certificate is due, unless another server has begun it; returns how many. */
  async orderDue(): Promise<number> {
    if (this.#order !== undefined || this.#stopping.signal.aborted) return 0;
    const { acme } = this.#settings;
    if (acme === undefined) return 0;
    for (const wanted of this.#settings.wanted) {
      if (this.#files.all.some((certificate) => certificate.isFor(wanted.name))) continue;
      const claimed = await this.#claim(wanted.name);
      if (claimed === undefined) continue;
      this.#order = this.#obtain(acme, wanted, claimed).finally(() => (this.#order = undefined));
      return 1;
    }
    return 0;
  }

  /** Resolves when the order that this server has begun is over. */
  async idle(): Promise<void> {
    await this.#order;
  }

  /** Gives up the order that is under way; another server takes it when its lease is over. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#order;
  }

  #certificateFor(host: string | undefined): ServedCertificate | undefined {
    if (host === undefined) return undefined;
    const fitting = [...this.#files.all, ...this.#issued.values()].filter((certificate) => certificate.isFor(host));
    return fitting.toSorted((a, b) => b.expiresAt.getTime() - a.expiresAt.getTime())[0];
  }

  #take({ name, chainPem, encryptedKey }: CertificateRow): void {
    if (this.#issued.has(chainPem)) return;
    const { encryption, log } = this.#means;
    const keyPem = encryption.decrypt(encryptedKey, contextOf(name));
    if (keyPem === undefined)
      return log.error({ name }, "the key of a certificate cannot be decrypted with this secret");
    this.#issued.set(chainPem, new ServedCertificate({ chainPem, keyPem }));
  }

  async #claim(name: string): Promise<Claim | undefined> {
    const { database, clock, random } = this.#means;
    const token = random(16).toString("hex");
    return withTransaction(database, clock, async (tx) => {
      await insertName(tx, name);
      const claimed = await claimOrder(tx, name, { token, leaseMs: LEASE_MS });
      return claimed && { token, failureCount: claimed.failureCount };
    });
  }

  async #obtain(acme: AcmeSettings, { name, challenge }: WantedName, { token, failureCount }: Claim): Promise<void> {
    const { database, clock, log, encryption } = this.#means;
    try {
      const made = await orderCertificate(acme, {
        ...{ name, kind: challenge, clock, signal: this.#stopping.signal },
        accountKey: await this.#accountKey(acme.directoryUrl),
        responder: { present: (asked) => this.#present(asked), remove: (asked) => this.#remove(asked) },
      });
      const { issuedAt, expiresAt } = new ServedCertificate(made);
      const orderAt = renewalAt(name, { issuedAt, expiresAt });
      const { chainPem, keyPem } = made;
      const encryptedKey = encryption.encrypt(keyPem, contextOf(name));
      await withTransaction(database, clock, (tx) =>
        storeIssued(tx, name, { chainPem, encryptedKey, issuedAt, expiresAt, orderAt }),
      );
      log.info({ name, expires_at: expiresAt }, "a certificate was issued");
      await this.load();
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      const problem = (error instanceof Error ? error.message : String(error)).slice(0, PROBLEM_LENGTH_MAX);
      log.warn({ name, problem }, "a certificate was not issued, and is ordered again later");
      const orderAt = retryAt(name, failureCount + 1, clock.now());
      const store = (tx: Tx) => storeFailure(tx, name, { token, problem, orderAt });
      await withTransaction(database, clock, store)
        .then(() => this.load())
        .catch((failure: unknown) => log.error({ err: failure, name }, "the failure of an order could not be stored"));
    }
  }

  async #accountKey(directoryUrl: string): Promise<string> {
    const { database, clock, encryption } = this.#means;
    const context = `acme account ${createHash("sha256").update(directoryUrl).digest("hex")}`;
    const fresh = encryption.encrypt(await makeKey(), context);
    const kept = await withTransaction(database, clock, (tx) => keepAccountKey(tx, directoryUrl, fresh));
    const key = encryption.decrypt(kept, context);
    if (key !== undefined) return key;
    throw new Error("the key of the account at the authority cannot be decrypted with this secret");
  }

  async #present({ kind, host, token, answer }: PresentedChallenge): Promise<void> {
    const { database, clock } = this.#means;
    if (kind === "dns-01") return this.#callHook("add", host, answer);
    const expiresAt = new Date(clock.now().getTime() + CHALLENGE_KEPT_MS);
    await withTransaction(database, clock, (tx) => insertChallenge(tx, { token, keyAuthorization: answer, expiresAt }));
  }

  async #remove({ kind, host, token, answer }: PresentedChallenge): Promise<void> {
    const { database, clock, log } = this.#means;
    try {
      if (kind === "dns-01") await this.#callHook("remove", host, answer);
      else await withTransaction(database, clock, (tx) => deleteChallenge(tx, token));
    } catch (error) {
      // The certificate does not depend on it, and the next order sets a record of its own.
      log.warn({ err: error, host }, "the answer to a challenge could not be taken away");
    }
  }

  async #callHook(action: "add" | "remove", host: string, value: string): Promise<void> {
    const { dnsHook } = this.#settings;
    if (dnsHook === undefined) throw new Error("BERTH_ACME_DNS_HOOK names no program that sets records in DNS");
    const ending = action === "remove" ? new AbortController().signal : this.#stopping.signal;
    await runDnsHook(dnsHook, action, { name: `_acme-challenge.${host}`, value }, ending);
  }
}

type Claim = { readonly token: string; readonly failureCount: number };

function contextOf(name: string): string {
  return `served certificate ${name}`;
}

function dayOf(moment: Date): string {
  return `on ${moment.toISOString().slice(0, 16).replace("T", " at ")} UTC`;
}
