/** PostgreSQL could not be started. The message is one sentence for the person at the terminal. */
export class EmbeddedPostgresError extends Error {
  override readonly name = "EmbeddedPostgresError";
}

/** The `code` of a Node or PostgreSQL error, such as ENOENT or 57P03; undefined when there is none. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
