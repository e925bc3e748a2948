/** Fields of PostgreSQL's, Node's, Stripe's and our own errors that tell failures apart. All are short texts or numbers. */
const FIELDS = [
  "code",
  "kind",
  "severity",
  "schema",
  "table",
  "column",
  "dataType",
  "constraint",
  "routine",
  "where",
  "hint",
  "errno",
  "syscall",
  "address",
  "port",
  "path",
  "statusCode",
  "requestId",
] as const;
const TEXT_LENGTH_MAX = 4_000;
const CAUSES_MAX = 4;
const PARTS_MAX = 8;

export type LoggedError = { readonly [field: string]: string | number | LoggedError | readonly LoggedError[] };

/**
 * An error as a log line shows it: type, message, stack, known fields and causes. Libraries hang whole objects on
 * errors: pg puts its client there, with every statement that it has prepared, and PostgreSQL's `detail` quotes rows.
 * Both stay out of the log, so a field is taken only when it is in the list above.
 */
function toLoggedError(error: Error, causesLeft = CAUSES_MAX): LoggedError {
  const fields = FIELDS.flatMap((field) => {
    const value: unknown = Reflect.get(error, field);
    return typeof value === "string" || typeof value === "number" ? [[field, cut(value)] as const] : [];
  });
  const type = cut(error.constructor.name);
  const shown = { type, message: cut(error.message), stack: cut(error.stack ?? ""), ...Object.fromEntries(fields) };
  if (causesLeft === 0) return shown;
  const parts = error instanceof AggregateError ? error.errors.filter(isError).slice(0, PARTS_MAX) : [];
  return {
    ...shown,
    ...(parts.length === 0 ? {} : { errors: parts.map((part) => toLoggedError(part, causesLeft - 1)) }),
    ...(isError(error.cause) ? { cause: toLoggedError(error.cause, causesLeft - 1) } : {}),
  };
}

/** The fields of a log line, with each error among them, under any key, replaced by its loggable form. */
export function withLoggedErrors(fields: Record<string, unknown>): Record<string, unknown> {
  if (!Object.values(fields).some(isError)) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, isError(value) ? toLoggedError(value) : value]),
  );
}

function isError(value: unknown): value is Error {
  return value instanceof Error;
}

function cut<T extends string | number>(value: T): T | string {
  return typeof value === "string" && value.length > TEXT_LENGTH_MAX ? `${value.slice(0, TEXT_LENGTH_MAX)}…` : value;
}
