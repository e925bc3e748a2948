import { ErrorNote } from "../ui/ErrorNote.tsx";
import { mayHelpToRetry, problemOf } from "./problem.ts";

type Props = { readonly error: unknown; readonly onRetry?: (() => void) | undefined };

/** A failed query or action, with a button when trying again may help. */
export function Failure({ error, onRetry }: Props) {
  return <ErrorNote problem={problemOf(error)} onRetry={mayHelpToRetry(error) ? onRetry : undefined} />;
}
