import pg from "pg";

const SERIALIZATION_FAILURE = "40001";
const DEADLOCK_DETECTED = "40P01";
const UNIQUE_VIOLATION = "23505";
const FEATURE_NOT_SUPPORTED = "0A000";
const LOCK_NOT_AVAILABLE = "55P03";
/** The function of PostgreSQL that refuses a prepared statement whose result has other columns now. */
const PLAN_CHECK = "RevalidateCachedQuery";
const READ_ONLY = "25006";

/** True when the whole transaction may simply be run again. */
export function isRetryableState(error: unknown): boolean {
  if (isStalePlan(error)) return true;
  return (
    error instanceof pg.DatabaseError && (error.code === SERIALIZATION_FAILURE || error.code === DEADLOCK_DETECTED)
  );
}

/** True when a table got or lost a column after the statement was prepared. The statement was not carried out. */
export function isStalePlan(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === FEATURE_NOT_SUPPORTED && error.routine === PLAN_CHECK;
}

/** True when a statement did not get a lock within the time that it may wait for one. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE;
}

/** True when the statement broke this unique constraint or index. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.code === UNIQUE_VIOLATION && error.constraint === constraint;
}

/** True when a statement that writes came to a standby. */
export function isReadOnlyState(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === READ_ONLY;
}

/** SQLSTATE classes of a server that is away, restarting, full or out of something; the statement was not carried out. */
const TROUBLE_CLASSES = ["08", "53", "58"];
/**
 * States of a server that was shut down by an operator, lost a process, has not started yet, or is a read-only standby.
 */
const TROUBLE_STATES = ["57P01", "57P02", "57P03", READ_ONLY];
/** The operating system's error codes for a socket to a server that is away. */
const SOCKET_CODES = [
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOENT",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
];
/** The driver's words for the same; it gives these errors no code. */
const DRIVER_MESSAGES =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** True when a statement failed because PostgreSQL is away, starting or out of room, and not because of its content. */
export function isDatabaseTrouble(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) {
    const { code = "" } = error;
    return TROUBLE_CLASSES.includes(code.slice(0, 2)) || TROUBLE_STATES.includes(code);
  }
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code !== undefined && syscall !== undefined) return SOCKET_CODES.includes(code);
  return DRIVER_MESSAGES.test(error.message);
}
