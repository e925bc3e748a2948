import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import DockerModem from "docker-modem";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { fail, succeed, type EngineFailureKind, type RegistryAuth, type Result } from "../engine.ts";

/** One call to the engine's HTTP interface; the path is without version prefix. */
export type Call = {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly auth?: RegistryAuth | null;
  readonly signal?: AbortSignal;
  /** The answer may take as long as it likes: it writes a disk full of files. */
  readonly is_slow?: boolean;
};

export type DockerConnection = {
  /** The decoded body of any 2xx, or of 304, which the engine uses for "already so". */
  call(call: Call): Promise<Result<unknown>>;
  /** The body as it comes. */
  stream(call: Call): Promise<Result<IncomingMessage>>;
  /** The connection itself, taken over for both directions. */
  hijack(call: Call): Promise<Result<Socket>>;
};

/** Longer than any stop grace or slow removal; a daemon that hangs must not hang the agent with it. */
const CALL_TIMEOUT_MS = 120_000;
const SUCCESS = { 200: true, 201: true, 204: true, 304: true } as const;

/**
 * Speaks to one socket through `docker-modem`, the transport below `dockerode`: the object layer on top would add gRPC
 * and protobuf to the process (about 14 MB resident) for calls that the agent does not make. `version` is a prefix
 * such as `v1.41`; without it the daemon uses its newest.
 */
export function connectDocker(socketPath: string, version?: string): DockerConnection {
  // Its `connectionTimeout` would end every call whose answer takes as long, such as a stop with a grace.
  const common = { socketPath, ...(version === undefined ? {} : { version }) };
  const patient = new DockerModem(common);
  const hurried = new DockerModem({ ...common, timeout: CALL_TIMEOUT_MS });
  return {
    call: (call) => dial(call.is_slow === true ? patient : hurried, call, "answer", (value) => succeed(value)),
    stream: (call) =>
      dial(patient, call, "stream", (value) =>
        value instanceof IncomingMessage ? succeed(value) : fail("refused", "the engine sent no stream"),
      ),
    hijack: (call) =>
      dial(patient, call, "hijack", (value) =>
        value instanceof Socket ? succeed(value) : fail("refused", "the engine did not hand over the connection"),
      ),
  };
}

function dial<T>(
  modem: DockerModem,
  call: Call,
  wanted: "answer" | "stream" | "hijack",
  read: (value: unknown) => Result<T>,
): Promise<Result<T>> {
  const query = call.query ?? {};
  // The modem sends its options as the body too, unless a body is given; an empty one is then left out. Starting a
  // container with any body is refused by the engine.
  const hasOptions = call.query !== undefined || call.body !== undefined;
  return new Promise((resolve) => {
    modem.dial(
      {
        path: call.query === undefined ? call.path : `${call.path}?`,
        method: call.method,
        statusCodes: SUCCESS,
        isStream: wanted === "stream",
        hijack: wanted === "hijack",
        ...(hasOptions ? { options: { _query: query, _body: call.body ?? {} } } : {}),
        ...(call.auth ? { authconfig: { ...call.auth } } : {}),
        ...(call.signal ? { abortSignal: call.signal } : {}),
      },
      (error, value) => {
        if (error === null) resolve(read(value));
        else resolve(failureOf(error, call.signal));
      },
    );
  });
}

const failedAnswer = Compile(
  Type.Object({
    statusCode: Type.Integer(),
    json: Type.Optional(Type.Unknown()),
  }),
);
const messageBody = Compile(Type.Object({ message: Type.String() }));

function failureOf(error: Error, signal: AbortSignal | undefined): ReturnType<typeof fail> {
  if (signal?.aborted) return fail("cancelled", "called off");
  // Without a status there was no answer at all: no socket, no daemon behind it, or a broken connection.
  if (!failedAnswer.Check(error)) return fail("unreachable", error.message);
  const message = messageBody.Check(error.json) ? error.json.message : error.message;
  return fail(kindOfStatus(error.statusCode), message);
}

function kindOfStatus(status: number): EngineFailureKind {
  if (status === 404) return "not_found";
  if (status === 409) return "conflict";
  if (status === 401 || status === 403) return "denied";
  return "refused";
}
