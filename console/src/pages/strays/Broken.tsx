import type { ErrorComponentProps } from "@tanstack/react-router";
import { useEffect } from "react";
import { nowMs, sleep } from "../../clock.ts";
import { CodeMissing } from "../../code.ts";
import { Failure } from "../../parts/Failure.tsx";
import { ErrorNote } from "../../ui/ErrorNote.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

/** The time of the last loading that this page did by itself. */
const LOADED_AT = "berth.loaded-again-at";
/** While an upgrade replaces the servers one by one, a page and its code may come from different versions. */
const BETWEEN_LOADS_MS = 10_000;
const BETWEEN_LOOKS_MS = 1_000;

/** Stands in for a page that failed. */
export function Broken({ error, reset }: Pick<ErrorComponentProps, "error" | "reset">) {
  if (error instanceof CodeMissing) return <LoadAgain />;
  return (
    <>
      <PageHead title="The page could not be shown" />
      <Failure error={error} onRetry={reset} />
    </>
  );
}

/** Loads the whole page when the server answers: a browser does not ask for code again that it could not have. */
function LoadAgain() {
  useEffect(() => {
    const leaving = new AbortController();
    void loadWhenServed(leaving.signal);
    return () => leaving.abort();
  }, []);
  const what = "The server did not send the code of this page.";
  const advice = "The page loads by itself when the server is back.";
  return (
    <>
      <PageHead title="The page is not loaded yet" />
      <ErrorNote problem={{ what, advice }} onRetry={() => location.reload()} />
    </>
  );
}

async function loadWhenServed(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const sinceMs = nowMs() - Number(sessionStorage.getItem(LOADED_AT) ?? 0);
    if (sinceMs > BETWEEN_LOADS_MS && (await isServed(signal))) {
      sessionStorage.setItem(LOADED_AT, String(nowMs()));
      location.reload();
      return;
    }
    await sleep(BETWEEN_LOOKS_MS);
  }
}

async function isServed(signal: AbortSignal): Promise<boolean> {
  return fetch("/healthz", { cache: "no-store", signal }).then(
    ({ ok }) => ok,
    () => false,
  );
}
