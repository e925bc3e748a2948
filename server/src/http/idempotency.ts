import { createCipheriv, createDecipheriv, createHash, hkdfSync } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { AppError, conflict, invalid } from "../base/errors.ts";
import type { ApiKeyId } from "../base/ids.ts";
import type { Tx } from "../db/transaction.ts";
import { claimKey, findAnswers, insertAnswers, storeResponse, type EarlierAnswer } from "./idempotency-store.ts";

const KEY_LENGTH_MAX = 255;

/** A request that its sender may repeat: the key, what exactly was asked, and the seal of the answer. */
export type Repeatable = {
  readonly apiKeyId: ApiKeyId;
  readonly key: string;
  readonly requestSha256: Buffer;
  /** Encrypts an answer so that only a bearer of the same secret can read it back: it may hold a new key. */
  seal(response: unknown): Buffer;
  open(sealed: Buffer): unknown;
};

/** The request's `Idempotency-Key`, bound to its caller and content; undefined when it carries none. */
export function repeatableOf(request: FastifyRequest, secret: string): Repeatable | undefined {
  const key = request.headers["idempotency-key"];
  const identity = request.identity;
  if (key === undefined || identity === undefined) return undefined;
  if (typeof key !== "string" || key === "" || key.length > KEY_LENGTH_MAX) {
    throw invalid("Idempotency-Key", `Idempotency-Key must have 1 to ${KEY_LENGTH_MAX} characters`);
  }
  const path = (request.url.split("?")[0] ?? "").replace(/\/+/g, "/").replace(/\/$/, "");
  const requestSha256 = createHash("sha256")
    .update(`${request.method} ${path}\n`)
    .update(canonicalJson([request.query, request.body ?? {}]))
    .digest();
  const sealKey = () => Buffer.from(hkdfSync("sha256", secret, requestSha256, `berth idempotency ${key}`, 32));
  return {
    apiKeyId: identity.apiKeyId,
    key,
    requestSha256,
    // A fixed nonce is safe: the encryption key depends on the request and its Idempotency-Key, which have one answer.
    seal(response) {
      const cipher = createCipheriv("aes-256-gcm", sealKey(), Buffer.alloc(12));
      const sealed = Buffer.concat([cipher.update(JSON.stringify(response), "utf8"), cipher.final()]);
      return Buffer.concat([cipher.getAuthTag(), sealed]);
    },
    open(sealed) {
      const decipher = createDecipheriv("aes-256-gcm", sealKey(), Buffer.alloc(12));
      decipher.setAuthTag(sealed.subarray(0, 16));
      const text = Buffer.concat([decipher.update(sealed.subarray(16)), decipher.final()]).toString("utf8");
      return JSON.parse(text);
    },
  };
}

/**
 * Runs `work` at most once per key: the answer is stored in the transaction of the effect, and a repetition returns it
 * without touching anything. The same key with another request is a conflict. A failed attempt leaves nothing behind.
 */
export async function once<T>(tx: Tx, repeatable: Repeatable | undefined, work: () => Promise<T>): Promise<T> {
  if (repeatable === undefined) return work();
  const earlier = await claimKey(tx, repeatable);
  if (earlier === "claimed") {
    const response = await work();
    await storeResponse(tx, repeatable, repeatable.seal(response));
    return response;
  }
  return openAnswer(repeatable, earlier) as T;
}

/** One of many requests that are done together, and what came of each: an answer to keep, or a refusal. */
type Repeatably = { readonly repeatable: Repeatable | undefined };
type Outcomes<Request, Answer> = ReadonlyMap<Request, Answer | AppError>;

/**
 * `once` for a batch: `work` does those that were not answered before, each key once, and what it answers is stored with
 * its effect. A refused request leaves nothing behind and may be tried again.
 */
export async function onceEach<Request extends Repeatably, Answer>(
  tx: Tx,
  requests: readonly Request[],
  work: (fresh: readonly Request[]) => Promise<Outcomes<Request, Answer>>,
): Promise<Outcomes<Request, Answer>> {
  const earlier = await findAnswers(
    tx.db,
    requests.flatMap(({ repeatable }) => repeatable ?? []),
  );
  const outcomes = new Map<Request, Answer | AppError>();
  const fresh = new Map<unknown, Request>();
  const twins: { readonly request: Request; readonly first: Request }[] = [];
  for (const request of requests) {
    const { repeatable } = request;
    const answer = repeatable && earlier.get(repeatable);
    const name = repeatable === undefined ? request : `${repeatable.apiKeyId} ${repeatable.key}`;
    const first = fresh.get(name);
    if (repeatable !== undefined && answer !== undefined) outcomes.set(request, reopen<Answer>(repeatable, answer));
    else if (first !== undefined) twins.push({ request, first });
    else fresh.set(name, request);
  }
  const done = await work([...fresh.values()]);
  const answers = [...done].flatMap(([{ repeatable }, outcome]) =>
    repeatable === undefined || outcome instanceof AppError ? [] : [{ repeatable, response: repeatable.seal(outcome) }],
  );
  await insertAnswers(tx, answers);
  for (const [request, outcome] of done) outcomes.set(request, outcome);
  for (const { request, first } of twins) {
    const [mine, theirs] = [request.repeatable, first.repeatable];
    const isSame = mine !== undefined && theirs?.requestSha256.equals(mine.requestSha256);
    outcomes.set(request, (isSame ? done.get(first) : undefined) ?? keyReused());
  }
  return outcomes;
}

function reopen<Answer>(repeatable: Repeatable, earlier: EarlierAnswer): Answer | AppError {
  if (!earlier.requestSha256.equals(repeatable.requestSha256)) return keyReused();
  return repeatable.open(earlier.response) as Answer;
}

/** The stored answer again; the same key with another request is a conflict. */
export function openAnswer(repeatable: Repeatable, earlier: EarlierAnswer): unknown {
  if (!earlier.requestSha256.equals(repeatable.requestSha256)) throw keyReused();
  return repeatable.open(earlier.response);
}

/** The answer to a key that was already used for something else. */
export function keyReused() {
  return conflict("idempotency_key_reused", "This Idempotency-Key was already used for a different request.");
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
