import { createHash } from "node:crypto";
import type { ServerUrls } from "../../../protocol/index.ts";
import type { Clock } from "../base/clock.ts";
import { certificateProblem } from "./server-trust.ts";
import { loadStartedJoin, saveCredential, saveStartedJoin, type StoredCredential } from "./credential.ts";

export type JoinInput = {
  readonly clock: Clock;
  readonly urls: ServerUrls;
  readonly token: string;
  readonly hostKey: string;
  readonly fingerprint: string;
  /** The machine's name in its owner's lists. */
  readonly hostname: string;
  readonly stateDir: string;
  /** Unpredictable text, made once for each join. */
  readonly newNonce: () => string;
  readonly fetch: typeof fetch;
};

export type Joined =
  | { readonly ok: true; readonly credential: StoredCredential }
  | { readonly ok: false; readonly problem: string };

const ATTEMPTS = 5;
const ATTEMPT_MS = 10_000;
const FIRST_DELAY_MS = 500;

type Answer =
  | { readonly kind: "credential"; readonly credential: string }
  | { readonly kind: "refused"; readonly problem: string }
  | { readonly kind: "unanswered"; readonly problem: string };

/**
 * Exchanges a join token for this machine's credential and stores it. An answer that is lost, here or by being killed,
 * is asked for again under the same nonce, and is then the same.
 */
export async function join(input: JoinInput): Promise<Joined> {
  const { clock, urls, stateDir, hostKey } = input;
  const tokenSha256 = createHash("sha256").update(input.token).digest("hex");
  const asked = { server: urls.apiUrl, tokenSha256 };
  let started = loadStartedJoin(stateDir, asked);
  if (started === undefined) {
    started = { ...asked, nonce: input.newNonce() };
    saveStartedJoin(stateDir, started);
  }
  let problem = "";
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (attempt > 0) await clock.sleep(FIRST_DELAY_MS * 2 ** (attempt - 1));
    const answer = await ask(input, started.nonce);
    if (answer.kind === "credential") {
      const joinedAt = clock.now().toISOString();
      const credential = { server: urls.apiUrl, hostKey, credential: answer.credential, joinedAt };
      saveCredential(stateDir, credential);
      return { ok: true, credential };
    }
    problem = answer.problem;
    if (answer.kind === "refused") break;
  }
  return { ok: false, problem: `could not join ${urls.apiUrl}: ${problem}` };
}

async function ask(input: JoinInput, nonce: string): Promise<Answer> {
  const { token, hostKey, fingerprint, hostname } = input;
  const body = JSON.stringify({ token, host_key: hostKey, fingerprint, nonce, name: hostname.slice(0, 255) });
  try {
    const response = await input.fetch(`${input.urls.apiUrl}/api/v0/agent/join/`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      redirect: "error",
      signal: AbortSignal.timeout(ATTEMPT_MS),
    });
    return readAnswer(response.status, await response.text());
  } catch (cause) {
    return { kind: "unanswered", problem: reasonOf(cause) };
  }
}

function readAnswer(status: number, text: string): Answer {
  const value = parseObject(text);
  const { credential, msg } = value;
  if (status === 200 && typeof credential === "string" && /^[\x21-\x7e]{1,4096}$/.test(credential)) {
    return { kind: "credential", credential };
  }
  const said = typeof msg === "string" ? msg : `it answered with status ${status}; is it a Berth server?`;
  const isPassing = status === 429 || (status >= 500 && status < 600);
  return { kind: isPassing ? "unanswered" : "refused", problem: said.replace(/\p{Cc}/gu, " ").slice(0, 500) };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    // An answer that is no JSON comes from no control plane; the status says the rest.
    return {};
  }
}

/** Runtimes hide the reason ("connection refused") one level down. */
function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error ? (cause.cause ?? cause) : cause;
  const certificate = certificateProblem(inner);
  if (certificate !== undefined) return certificate;
  if (typeof inner === "object" && inner !== null && "code" in inner && typeof inner.code === "string") {
    return `it cannot be reached (${inner.code})`;
  }
  return inner instanceof Error ? inner.message : String(inner);
}
