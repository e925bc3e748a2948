import type { UpdateResult } from "../../../protocol/index.ts";
import type { ServerChoice } from "../link/servers.ts";
import type { Hello, Welcome } from "../wire/messages.ts";
import type { Offer } from "./updater.ts";

/** Newer versions of the agent, as a session with a server has them. */
export type SessionUpdates = {
  readonly result: UpdateResult | undefined;
  readonly offer: (offer: Offer) => Promise<void>;
  /** Called when the server has acknowledged a report. */
  readonly reported: () => void;
};

/** The part of a hello that is about updates. */
export function updateFacts(updates: SessionUpdates | undefined): Pick<Hello, "updatesItself" | "updateResult"> {
  if (updates === undefined) return {};
  const { result } = updates;
  return { updatesItself: true, ...(result === undefined ? {} : { updateResult: result }) };
}

/** The offer in the welcome of a server. */
export function offerIn({ release, releaseKey }: Welcome, servers: ServerChoice): Offer {
  return { release, releaseKey, isHome: servers.isAtHome, apiUrl: servers.urls.apiUrl };
}
