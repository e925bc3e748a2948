import { request, type ClientRequest, type IncomingMessage, type RequestOptions } from "node:http";
import type { Socket } from "node:net";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { fail, succeed, type EngineFailureKind, type RegistryAuth, type Result } from "../engine/engine.ts";

/** One call to the engine's HTTP interface; the path is without version prefix. */
export type Call = {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly auth?: RegistryAuth | null;
  readonly signal?: AbortSignal;
  /** True for a call without a time limit: it may write a disk full of files. */
  readonly isSlow?: boolean;
};

export type DockerConnection = {
  /** The decoded body of any 2xx, or of 304, which the engine uses for "already so". */
  call(call: Call): Promise<Result<unknown>>;
  /** Returns the body as a stream. */
  stream(call: Call): Promise<Result<IncomingMessage>>;
  /** Returns the connection itself, taken over for both directions. */
  hijack(call: Call): Promise<Result<Socket>>;
};

/** Longer than any stop grace or slow removal; a daemon that hangs must not hang the agent with it. */
const CALL_TIMEOUT_MS = 120_000;
const NOT_MODIFIED = 304;

/**
 * Speaks to one socket, with a connection for each call: one that a restarted daemon has left behind is never used.
 * `version` is a prefix such as `v1.41`; without it the daemon uses its newest. docs/adr/0045-own-docker-client.md has the
 * reasons for a client of our own.
 */
export function connectDocker(socketPath: string, version?: string): DockerConnection {
  const prefix = version === undefined ? "" : `/${version}`;
  const optionsOf = (call: Call): RequestOptions => ({
    socketPath,
    agent: false,
    method: call.method,
    path: `${prefix}${call.path}${queryOf(call)}`,
    headers: headersOf(call),
    ...(call.signal ? { signal: call.signal } : {}),
  });
  return {
    async call(call) {
      const timeout = call.isSlow === true ? 0 : CALL_TIMEOUT_MS;
      const answer = await answerTo(request({ ...optionsOf(call), timeout }), call);
      return answer.ok ? decode(answer.value, call) : answer;
    },
    stream: (call) => answerTo(request(optionsOf(call)), call),
    hijack: (call) => socketOf(request(optionsOf(call)), call),
  };
}

function queryOf({ query }: Call): string {
  return query === undefined ? "" : `?${new URLSearchParams(query).toString()}`;
}

function headersOf({ auth, body }: Call): Record<string, string> {
  return {
    host: "docker",
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(auth ? { "x-registry-auth": paddedBase64url(JSON.stringify(auth)) } : {}),
  };
}

/** Base64url with padding: the engine reads no other, and takes a login that it cannot read for none. */
function paddedBase64url(text: string): string {
  return Buffer.from(text).toString("base64").replaceAll("+", "-").replaceAll("/", "_");
}

/** Sends the request and waits for a good answer; another one is a failure with the engine's own words. */
function answerTo(sent: ClientRequest, call: Call): Promise<Result<IncomingMessage>> {
  return new Promise((resolve) => {
    sent.once("response", (response) => {
      if (isSuccess(response)) resolve(succeed(response));
      else void refusalOf(response).then(resolve);
    });
    sent.on("timeout", () => sent.destroy(new Error("the container engine does not answer")));
    // An error after the answer comes to the reader of the body; this promise is settled by then.
    sent.on("error", (error) => resolve(noAnswer(error, call)));
    send(sent, call);
  });
}

function socketOf(sent: ClientRequest, call: Call): Promise<Result<Socket>> {
  sent.setHeader("connection", "Upgrade");
  sent.setHeader("upgrade", "tcp");
  return new Promise((resolve) => {
    sent.once("upgrade", (_response, socket, head) => {
      if (head.length > 0) socket.unshift(head);
      resolve(succeed(socket));
    });
    sent.once("response", (response) => {
      if (!isSuccess(response)) return void refusalOf(response).then(resolve);
      response.destroy();
      resolve(fail("refused", "the engine did not hand over the connection"));
    });
    sent.on("error", (error) => resolve(noAnswer(error, call)));
    send(sent, call);
  });
}

function send(sent: ClientRequest, { body }: Call): void {
  sent.end(body === undefined ? undefined : JSON.stringify(body));
}

function isSuccess({ statusCode = 0 }: IncomingMessage): boolean {
  return (statusCode >= 200 && statusCode < 300) || statusCode === NOT_MODIFIED;
}

async function decode(response: IncomingMessage, call: Call): Promise<Result<unknown>> {
  let text: string;
  try {
    text = await textOf(response);
  } catch (cause) {
    return noAnswer(cause, call);
  }
  if (!/^application\/json\b/.test(response.headers["content-type"] ?? "")) return succeed(text);
  try {
    return succeed(text === "" ? undefined : JSON.parse(text));
  } catch {
    return fail("refused", "the engine's answer is not JSON");
  }
}

const messageBody = Compile(Type.Object({ message: Type.String() }));

async function refusalOf(response: IncomingMessage): Promise<ReturnType<typeof fail>> {
  const kind = kindOfStatus(response.statusCode ?? 0);
  const text = await textOf(response).catch(() => "");
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // The answer may come from a proxy before the engine: its text is the message then.
    body = undefined;
  }
  return fail(kind, messageBody.Check(body) ? body.message : text || `HTTP status ${response.statusCode}`);
}

async function textOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of response) if (Buffer.isBuffer(part)) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}

/** The failure of a call without an answer: no socket, no daemon behind it, or a connection that broke. */
function noAnswer(cause: unknown, { signal }: Call): ReturnType<typeof fail> {
  if (signal?.aborted) return fail("cancelled", "called off");
  return fail("unreachable", cause instanceof Error ? cause.message : String(cause));
}

function kindOfStatus(status: number): EngineFailureKind {
  if (status === 404) return "not_found";
  if (status === 409) return "conflict";
  if (status === 401 || status === 403) return "denied";
  return "refused";
}
