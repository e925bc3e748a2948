import { useMutation, useQueryClient } from "@tanstack/react-query";
import { client } from "./client.ts";

const SESSION_PATH = "/api/v0/auth/browser/";

/** Ends the session of this browser and forgets what it has shown. */
export function useSignOut() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => client.request({ method: "DELETE", path: SESSION_PATH, body: {} }),
    onSettled: () => {
      queries.clear();
      // Loading the page again leaves nothing of the account in the memory of the browser.
      globalThis.location.assign("/sign-in");
    },
  });
}

export type SignInInput =
  | { readonly username: string; readonly password: string }
  | { readonly api_key: string }
  | { readonly token: string };

/** Starts a session of this browser: the server answers with a cookie that scripts cannot read. */
export function useSignIn(onDone: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (input: SignInInput) => client.request({ method: "POST", path: SESSION_PATH, body: input }),
    onSuccess: () => {
      queries.clear();
      onDone();
    },
  });
}
