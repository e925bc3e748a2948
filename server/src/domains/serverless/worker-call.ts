const TIMEOUT_MS = 5_000;

/**
 * Tells a worker that it is about to be made anew (semantics.md §12.6). Its address was found to be its own when it
 * reported it, and no answer leads anywhere else. One that cannot be reached has nothing to finish that we could save.
 */
export async function tellUpdate({ url, token }: { readonly url: string; readonly token: string }): Promise<void> {
  const answer = await fetch(`${url}/pyworker/update`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(() => undefined);
  await answer?.body?.cancel().catch(() => undefined);
}
