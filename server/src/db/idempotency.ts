import { AppError, conflict } from "../base/errors.ts";
import {
  claimKey,
  findAnswers,
  insertAnswers,
  storeResponse,
  type EarlierAnswer,
  type Repeatable,
} from "./idempotency-store.ts";
import type { Tx } from "./transaction.ts";

export type { Repeatable } from "./idempotency-store.ts";

/**
 * Runs `work` at most once per key: the answer is stored in the transaction of the effect, and a repetition returns it
 * without touching anything. The same key with another request is a conflict. A failed attempt leaves nothing behind.
 */
export async function once<T>(tx: Tx, repeatable: Repeatable | undefined, work: () => Promise<T>): Promise<T> {
  if (repeatable === undefined) return work();
  const earlier = await claimKey(tx, repeatable);
  if (earlier === "claimed") {
    const response = await work();
    await storeResponse(tx, repeatable, repeatable.encrypt(response));
    return response;
  }
  return openAnswer(repeatable, earlier) as T;
}

/** One of many requests that are done together, with its result: an answer to keep, or a refusal. */
type Repeatably = { readonly repeatable: Repeatable | undefined };
type Outcomes<Request, Answer> = ReadonlyMap<Request, Answer | AppError>;

/**
 * `once` for a batch: `work` does the requests that were not answered before, each key once, and its answers are stored
 * with the effects. A refused request leaves nothing behind and may be tried again.
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
    repeatable === undefined || outcome instanceof AppError
      ? []
      : [{ repeatable, response: repeatable.encrypt(outcome) }],
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
  return repeatable.decrypt(earlier.response) as Answer;
}

/** The stored answer again; the same key with another request is a conflict. */
export function openAnswer(repeatable: Repeatable, earlier: EarlierAnswer): unknown {
  if (!earlier.requestSha256.equals(repeatable.requestSha256)) throw keyReused();
  return repeatable.decrypt(earlier.response);
}

/** The answer to a key that was already used for something else. */
export function keyReused() {
  return conflict("idempotency_key_reused", "This Idempotency-Key was already used for a different request.");
}
