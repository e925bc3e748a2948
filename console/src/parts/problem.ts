import { ApiError, ConnectionError } from "../../../sdk/src/index.ts";
import type { Problem } from "../ui/ErrorNote.tsx";

/** A failure in words: what happened, and what the person can do. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ApiError) return { what: error.msg, advice: adviceOf(error), requestId: error.requestId };
  if (error instanceof ConnectionError) {
    return {
      what: "The server did not answer.",
      advice: "Check your connection. Nothing is done twice when you try again.",
    };
  }
  const detail = error instanceof Error ? error.message : String(error);
  return { what: `This page has a fault: ${detail}`, advice: "Load the page again. If it stays, tell the operator." };
}

function adviceOf({ status, code }: ApiError): string | undefined {
  if (status === 401) return "Sign in again.";
  if (code === "insufficient_credit") return "Add credit, or choose something cheaper.";
  if (status === 403) return "Ask the owner of the account or of the team for the permission.";
  if (status === 404) return "It may have ended, or the address may be wrong.";
  if (status === 429) return "Wait a moment, then try again.";
  if (status >= 500) return "Try again in a moment. If it stays, tell the operator the id of the request.";
  return undefined;
}

/** True when the same request may succeed later. */
export function mayHelpToRetry(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  return error.status === 429 || error.status === 409 || error.status >= 500;
}
