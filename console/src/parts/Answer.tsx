import type { ReactNode } from "react";
import { Waiting } from "../ui/Waiting.tsx";
import { Failure } from "./Failure.tsx";

type Props<T> = {
  readonly query: { readonly data: T | undefined; readonly error: Error | null; readonly refetch: () => unknown };
  /** Rows of the skeleton: the height that the answer will have. */
  readonly rows?: number;
  readonly children: (data: T) => ReactNode;
};

/** The answer of a query; before it comes a skeleton, and in its place a failure with a button to try again. */
export function Answer<T>({ query: { data, error, refetch }, rows, children }: Props<T>) {
  if (data !== undefined) return <>{children(data)}</>;
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />;
  return rows === undefined ? <Waiting /> : <Waiting rows={rows} />;
}
