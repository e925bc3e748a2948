import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { ApiError } from "../../../sdk/src/index.ts";

/** An answer of the server is shown for this long without asking again; events of the server make it stale at once. */
const FRESH_MS = 10_000;

const watchers = new Set<() => void>();
let isOver = false;

/** The session of this browser, as the last answers of the server show it. */
export const session = {
  watch: (watcher: () => void): (() => void) => {
    watchers.add(watcher);
    return () => void watchers.delete(watcher);
  },
  isOver: () => isOver,
  set: (value: boolean): void => {
    if (value === isOver) return;
    isOver = value;
    for (const watcher of watchers) watcher();
  },
};

/** Refusals that say that nobody is signed in; a browser forgets a cookie whose time is over. */
const OVER: ReadonlySet<string> = new Set(["auth_error", "session_over", "session_ambiguous"]);

const onError = (error: unknown): void => {
  if (isSignedOut(error) && OVER.has(error.code)) session.set(true);
};

/** The SDK has repeated what may succeed a moment later, so nothing is repeated here. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: { staleTime: FRESH_MS, retry: false, refetchOnWindowFocus: true },
    mutations: { retry: false },
  },
});

/** True when the server does not know the caller: the session has ended, or there was none. */
export function isSignedOut(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 401;
}
