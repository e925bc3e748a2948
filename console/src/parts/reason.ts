import type { AllowedAction } from "../../../sdk/src/index.ts";

/** The reason why an action is not possible now, in the server's words; undefined when it is possible. */
export function reasonOf({ allowed, reason }: AllowedAction): string | undefined {
  return allowed ? undefined : (reason ?? "It is not possible now.");
}
