import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "../../../sdk/src/index.ts";

/** An answer of the server is shown for this long without asking again; events of the server make it stale at once. */
const FRESH_MS = 10_000;

/** The SDK has repeated what may succeed a moment later, so nothing is repeated here. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { staleTime: FRESH_MS, retry: false, refetchOnWindowFocus: true },
    mutations: { retry: false },
  },
});

/** True when the server does not know the caller: the session has ended, or there was none. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}
