export type ErrorKind =
  | "invalid"
  /** Malformed JSON for the command operation, whose published status is 483. */
  | "malformed_command"
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  /** A path that exists, with a method that it does not have; `allowed` lists those that it has. */
  | "wrong_method"
  | "gone"
  | "conflict"
  /** A well-formed request that contradicts what is there, where the published status is 422. */
  | "unprocessable"
  | "insufficient_funds"
  | "too_large"
  | "unsupported_media"
  | "rate_limited"
  /** The request itself took too long to arrive. */
  | "timeout"
  | "unavailable"
  /** A published operation that this server does not carry out yet. */
  | "not_built"
  | "internal";

export type ErrorDetails = {
  /** Extra keys of the response body, such as `field` or `ask_id`. Public. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Details for logs only; no response ever holds them. */
  readonly internal?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
  /** True when the rest of the request is not wanted: its connection ends with the answer. */
  readonly closesConnection?: boolean;
  /** Seconds after which the same request may work, where the server knows better than its usual guess. */
  readonly retryAfterSeconds?: number;
};

/** The one family of failures that a caller may see. `http/error-response.ts` alone maps it to HTTP. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly kind: ErrorKind;
  /** The stable, machine-readable code; listed in `docs/errors.md`. */
  readonly code: string;
  readonly publicMessage: string;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly internal: Readonly<Record<string, unknown>>;
  readonly closesConnection: boolean;
  readonly retryAfterSeconds: number | undefined;

  constructor(kind: ErrorKind, code: string, publicMessage: string, details: ErrorDetails = {}) {
    super(publicMessage, { cause: details.cause });
    this.kind = kind;
    this.code = code;
    this.publicMessage = publicMessage;
    this.extra = details.extra ?? {};
    this.internal = details.internal ?? {};
    this.closesConnection = details.closesConnection ?? false;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

/** Throws a refusal, if there is one. */
export function throwRefusal(refused: AppError | undefined): void {
  if (refused !== undefined) throw refused;
}

/** Bad input. `field` names the faulty field, as the caller spelled it. */
export function invalid(field: string, message: string, code = "invalid_args", details: ErrorDetails = {}): AppError {
  return new AppError("invalid", code, message, { ...details, extra: { field, ...details.extra } });
}

export function unauthenticated(message: string, code = "auth_error"): AppError {
  return new AppError("unauthenticated", code, message);
}

export function forbidden(message: string, code = "not_authorized", details: ErrorDetails = {}): AppError {
  return new AppError("forbidden", code, message, details);
}

/** An object that is absent, or not the caller's: both look the same. */
export function notFound(code: string, message: string, details: ErrorDetails = {}): AppError {
  return new AppError("not_found", code, message, details);
}

/** A thing that was there and is not any more, such as an offer that somebody else rented. */
export function gone(code: string, message: string, details: ErrorDetails = {}): AppError {
  return new AppError("gone", code, message, details);
}

export function conflict(code: string, message: string, details: ErrorDetails = {}): AppError {
  return new AppError("conflict", code, message, details);
}

/** The refusal of a published operation that does not exist here yet. The message says what to do instead. */
export function notBuilt(message: string): AppError {
  return new AppError("not_built", "not_built", message);
}

/** A value that is valid by itself but conflicts with stored state. `field` names it as the caller spelled it. */
export function unprocessable(field: string, message: string): AppError {
  return new AppError("unprocessable", "unprocessable", message, { extra: { field } });
}

export function insufficientFunds(message: string, details: ErrorDetails = {}): AppError {
  return new AppError("insufficient_funds", "insufficient_credit", message, details);
}
