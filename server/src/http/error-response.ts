import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { AppError, invalid, type ErrorKind } from "../base/errors.ts";
import { model } from "./model.ts";
import { unreachable } from "../base/invariant.ts";
import type { Log } from "../base/log.ts";
import { isDatabaseTrouble } from "../db/sql-state.ts";

/** The shape of every failure. `error` is a code of `docs/errors.md`, `msg` one sentence for people. */
export const ErrorBody = model(
  "Error",
  {
    success: Type.Literal(false),
    error: Type.String(),
    msg: Type.String(),
    request_id: Type.Optional(Type.String()),
  },
  { additionalProperties: true, description: "Failure" },
);

export const RateLimitBody = model(
  "RateLimited",
  { detail: Type.String(), msg: Type.String() },
  { additionalProperties: true, description: "Too many requests" },
);

function statusOf(kind: ErrorKind): number {
  switch (kind) {
    case "invalid":
    case "insufficient_funds":
      return 400;
    case "malformed_command":
      return 483;
    case "unauthenticated":
      return 401;
    case "forbidden":
      return 403;
    case "not_found":
      return 404;
    case "wrong_method":
      return 405;
    case "conflict":
      return 409;
    case "gone":
      return 410;
    case "unprocessable":
      return 422;
    case "too_large":
      return 413;
    case "unsupported_media":
      return 415;
    case "rate_limited":
      return 429;
    case "timeout":
      return 408;
    case "unavailable":
      return 503;
    case "not_built":
      return 501;
    case "internal":
      return 500;
    default:
      return unreachable(kind);
  }
}

/** The refusal of a request that came too soon, in the contract's shape, with how long to wait. */
export function rateLimited(thresholdSeconds: number, retryAfterMs: number): AppError {
  const detail = `API requests too frequent endpoint threshold=${Number(thresholdSeconds.toFixed(3))}`;
  return new AppError("rate_limited", "rate_limited", detail, { extra: { detail, retry_after_ms: retryAfterMs } });
}

/** The refusal of a body that is no JSON by its own content type. */
export function unsupportedMediaType(): AppError {
  return new AppError("unsupported_media", "unsupported_media_type", "Send Content-Type: application/json.");
}

function fromFramework(error: FastifyError): AppError | undefined {
  const first = error.validation?.[0];
  if (first) {
    const [missing]: unknown[] = [first.params["requiredProperties"]].flat();
    const pathParts = first.instancePath.split("/").filter((part) => part !== "");
    if (first.keyword === "required" && typeof missing === "string") pathParts.push(missing);
    const field = pathParts.join(".") || (error.validationContext ?? "body");
    return invalid(field, `${field} ${whatIsWrong(first, error.validation ?? [])}`);
  }
  switch (error.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new AppError("too_large", "payload_too_large", "The request body is larger than 1 MB.");
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return unsupportedMediaType();
    default:
      break;
  }
  if (error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500) {
    return new AppError("invalid", "invalid_request", "The request could not be read.", { cause: error });
  }
  return undefined;
}

/** PostgreSQL cannot be reached or has no room: nothing was changed, and the same request may work soon. */
function fromDatabase(error: unknown): AppError | undefined {
  if (!isDatabaseTrouble(error)) return undefined;
  const msg = "The database is not available at the moment. Repeat the request in a few seconds.";
  return new AppError("unavailable", "database_unavailable", msg, { cause: error });
}

type Fault = NonNullable<FastifyError["validation"]>[number];

function whatIsWrong(first: Fault, all: readonly Fault[]): string {
  if (first.keyword === "required") return "is required";
  // In a choice, each alternative reports only that it was not taken.
  const alternatives = all
    .filter(({ keyword, instancePath }) => keyword !== "anyOf" && instancePath === first.instancePath)
    .map(allowedValues);
  const values = alternatives.flat();
  if (values.length === 0 || alternatives.some((some) => some.length === 0)) return first.message ?? "is not valid";
  return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(", ")}`;
}

/** The values that would have passed; none when they cannot be listed. */
function allowedValues({ keyword, params }: Fault): readonly string[] {
  if (keyword === "const") return [String(params["allowedValue"])];
  if (keyword === "enum") return [params["allowedValues"]].flat().map(String);
  return keyword === "type" && params["type"] === "null" ? ["null"] : [];
}

/** Seconds after which a client that met a passing trouble of the server should ask again. */
const RETRY_AFTER_SECONDS = 2;

/** Turns any failure of any depth into the contract's answer. An unknown one tells no detail and is logged whole. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, log: Log): void {
  const known = error instanceof AppError ? error : (fromDatabase(error) ?? fromFramework(error as FastifyError));
  const failure =
    known ?? new AppError("internal", "internal_error", "Something went wrong on our side.", { cause: error });
  const status = statusOf(failure.kind);
  // A refusal of what is not built, or of changes in a pause that somebody wanted, is no fault of this server.
  const isOurFault = status >= 500 && failure.kind !== "not_built" && failure.code !== "service_paused";
  if (isOurFault) {
    const { method, url, id, identity } = request;
    const path = url.split("?")[0];
    log.error({ err: error, method, path, request_id: id, user_id: identity?.userId, ...failure.internal }, "failed");
  }
  if (failure.closesConnection) void reply.header("connection", "close");
  if (failure.kind === "unavailable") {
    void reply.header("retry-after", failure.retryAfterSeconds ?? RETRY_AFTER_SECONDS);
  }
  const { allowed } = failure.extra;
  if (failure.kind === "wrong_method" && Array.isArray(allowed)) void reply.header("allow", allowed.join(", "));
  if (failure.kind === "rate_limited") {
    const { retry_after_ms: retryAfterMs, ...extra } = failure.extra;
    void reply.header("retry-after", Math.max(1, Math.ceil(Number(retryAfterMs) / 1000)));
    void reply.code(status).send({ ...extra, msg: failure.publicMessage });
    return;
  }
  const { code, publicMessage, extra } = failure;
  void reply.code(status).send({ success: false, error: code, msg: publicMessage, ...extra, request_id: request.id });
}
