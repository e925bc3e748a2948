import { redirect } from "@tanstack/react-router";
import { ApiError, browserLeaveView } from "../../../sdk/src/index.ts";
import { client } from "../api/client.ts";
import { meQuery } from "../api/me.ts";
import { isSignedOut, queryClient } from "../api/query-client.ts";

/**
 * Sends somebody who is not signed in to sign in, from where they come back. An administrator whose view of another account
 * is over leaves it.
 */
export async function requirePerson({ location }: { readonly location: { readonly href: string } }): Promise<void> {
  try {
    await queryClient.ensureQueryData(meQuery);
  } catch (error) {
    if (error instanceof ApiError && error.code === "view_over") {
      await browserLeaveView(client);
      throw redirect({ to: "/operate" });
    }
    if (!isSignedOut(error)) throw error;
    throw redirect({ to: "/sign-in", search: { next: location.href } });
  }
}

/** Sends a person who names no page to their instances. */
export function beginWithInstances(): never {
  throw redirect({ to: "/instances" });
}
