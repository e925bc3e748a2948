import { createClient } from "../../../sdk/src/index.ts";
import { takeEarly } from "./early.ts";

/** Marks a request as sent by the console: other sites cannot make a browser send this header along with its cookie. */
export const MARK = "x-berth-console";

/** Sends requests with the session's cookie. */
const sendWithSession: typeof fetch = (input, init = {}) => {
  const early = takeEarly(input, init.method);
  if (early !== undefined) return early;
  const headers = new Headers(init.headers);
  // Some reads change something, too: the acceptance of an invitation.
  headers.set(MARK, "1");
  return fetch(input, { ...init, headers, credentials: "same-origin", cache: "no-store" });
};

/** The console's client: the server that the page came from, as the person who is signed in. */
export const client = createClient({ baseUrl: globalThis.location.origin, fetch: sendWithSession, attemptsMax: 3 });
