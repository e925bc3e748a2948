import { AppError } from "../../../base/errors.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Completion, CompletionKind } from "./rules/openai-request.ts";
import type { Assignment } from "./endpoint-router.ts";
import type { RoutedGroup } from "./routed-group.ts";
import type { Routers } from "./routers.ts";
import type { UrlSigner } from "./signed-url.ts";
import type { Tickets } from "./tickets.ts";
import type { WorkerAnswer, WorkerClient } from "../workers/worker-client.ts";

export type CompletionPorts = {
  readonly routers: Pick<Routers, "route" | "finish">;
  readonly clock: Clock;
  readonly loadSigner: () => Promise<Pick<UrlSigner, "sign">>;
  readonly tickets: Pick<Tickets, "issue">;
  readonly workers: Pick<WorkerClient, "send">;
};

export type AskedCompletion = {
  readonly group: RoutedGroup;
  readonly kind: CompletionKind;
  readonly completion: Completion;
  readonly requestId: string;
  /** The time that its client waits for a worker. */
  readonly patienceMs: number;
  /** Aborts when its client disconnects. */
  readonly gone: AbortSignal;
};

const REPLAY_TIMEOUT_MS = 60_000;
/** Statuses of an overloaded worker: another worker, or the same one a little later, may take the request. */
const BUSY: ReadonlySet<number> = new Set([408, 429, 503]);
/** A request that failed at this many workers would fail at all of them. */
const FAILURES_MAX = 4;
/** The pause before the third attempt, since the second follows at once; each further pause doubles, up to the maximum. */
const DELAY_FIRST_MS = 100;
const DELAY_MAX_MS = 2_000;

/**
 * Asks workers of the endpoint until one answers, as a client of `/route/` would. Before the first byte of an answer a
 * request moves on to another worker; from then on it is that worker's. Throws when there is no worker in time.
 */
export async function complete(asked: AskedCompletion, ports: CompletionPorts): Promise<WorkerAnswer> {
  const { clock } = ports;
  const deadlineMs = clock.monotonicMs() + asked.patienceMs;
  // The signer is loaded first: a route that cannot be signed must not be taken.
  const signer = await ports.loadSigner();
  let requestIdx = 0;
  let failureCount = 0;
  for (let attempt = 0; ; attempt += 1) {
    const assignment = await findWorker(asked, ports, { requestIdx, holdMs: deadlineMs - clock.monotonicMs() });
    requestIdx = assignment.requestIdx;
    const answer = await ports.workers.send({
      url: assignment.url,
      workerId: assignment.workerId,
      path: `/v1/${asked.kind}`,
      body: workerBody(asked, assignment, {
        signature: signer.sign(assignment.url),
        ...ports.tickets.issue({ endpoint: asked.group.endpoint.name, cost: assignment.cost }, assignment),
      }),
      gone: asked.gone,
    });
    if (answer.kind === "answer" || !isRepeatable(answer)) return answer;
    const isBusy = answer.kind === "refusal" && BUSY.has(answer.status);
    if (!isBusy) failureCount += 1;
    const delayMs = attempt === 0 ? 0 : Math.min(DELAY_MAX_MS, DELAY_FIRST_MS * 2 ** (attempt - 1));
    const isOver = failureCount >= FAILURES_MAX || clock.monotonicMs() + delayMs >= deadlineMs;
    if (isOver || asked.gone.aborted) {
      // A worker that was not reached cannot report the request as done.
      ports.routers.finish(asked.group.endpoint.id, assignment.workerId, [requestIdx]);
      return answer;
    }
    if (delayMs > 0) await clock.sleep(delayMs, asked.gone);
  }
}

function isRepeatable(answer: WorkerAnswer): boolean {
  return answer.kind === "lost" || (answer.kind === "refusal" && (BUSY.has(answer.status) || answer.status >= 500));
}

async function findWorker(
  { group, completion, patienceMs, gone }: AskedCompletion,
  { routers }: CompletionPorts,
  { requestIdx, holdMs }: { readonly requestIdx: number; readonly holdMs: number },
): Promise<Assignment> {
  const asked = { requestIdx, cost: completion.cost, replayTimeoutMs: REPLAY_TIMEOUT_MS };
  const outcome = await routers.route(group, asked, { holdMs: Math.max(0, holdMs), hungUp: () => gone });
  switch (outcome.kind) {
    case "given":
      return outcome.assignment;
    case "held": {
      const waited = `No worker was free within ${Math.round(patienceMs / 1000)} seconds: ${outcome.status}.`;
      throw new AppError("unavailable", "no_worker", waited);
    }
    case "full":
      throw tooManyWaiting();
    case "stopped":
      throw new AppError("invalid", "endpoint_stopped", "The endpoint is stopped: set it to active to use it.");
    case "gone":
    case "unknown":
      throw new AppError("not_found", "no_such_endpoint", "The endpoint was deleted.");
  }
}

export function tooManyWaiting(): AppError {
  return new AppError("unavailable", "too_many_waiting", "Too many requests wait for a worker of this endpoint.");
}

/** The body of a request to a worker (docs/endpoints.md#calling-it). */
function workerBody({ group, completion, requestId }: AskedCompletion, assignment: Assignment, proofs: object) {
  const { url, cost, reqnum, requestIdx } = assignment;
  return {
    auth_data: {
      endpoint: group.endpoint.name,
      url,
      cost,
      reqnum,
      request_idx: requestIdx,
      ...proofs,
      __request_id: requestId,
    },
    session_id: null,
    payload: completion.payload,
  };
}
