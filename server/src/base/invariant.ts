/** A rule of ours was broken: a defect in Berth, never a mistake of a user. */
class InvariantError extends Error {
  override readonly name = "InvariantError";
}

/** Stops the operation when `condition` is false. Stays on in production. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}

/** Closes an exhaustive switch: reaching it does not compile. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable: ${String(value)}`);
}
