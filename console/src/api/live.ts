// The stream of events of the server: it makes queries stale, and tells whether the server is there.
import { useSyncExternalStore } from "react";
import { every, later, now } from "../clock.ts";
import { queryClient } from "./query-client.ts";
import type { Noun } from "./query.ts";

const EVENTS_PATH = "/api/v0/events/";
/** Names of events, and the nouns whose queries each makes stale. */
const STALE: Readonly<Record<string, readonly Noun[]>> = {
  instance: ["instance", "balance"],
  offer: ["offer"],
  machine: ["machine", "host"],
  volume: ["volume"],
  endpoint: ["endpoint"],
  worker: ["endpoint"],
  queue: ["queue"],
  notification: ["notification"],
  balance: ["balance", "account"],
};
/** Events of one noun within this time make one request. */
const GATHER_MS = 300;
/** The browser gives up when the server refuses the stream; it is tried again after this. */
const AGAIN_MS = 5_000;
/** Without a stream everything on the screen is asked again this often. */
const POLL_MS = 20_000;

export type LiveState = { readonly isConnected: boolean; readonly lostAt: Date | undefined };

const CONNECTED: LiveState = { isConnected: true, lostAt: undefined };

class Live {
  #state = CONNECTED;
  #source: EventSource | undefined;
  #hasOpened = false;
  #stopPolling: (() => void) | undefined;
  readonly #stale = new Set<Noun>();
  readonly #watchers = new Set<() => void>();
  readonly #changeWatchers = new Set<(noun: string, id: string) => void>();

  get state(): LiveState {
    return this.#state;
  }

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  /** Calls the watcher with the noun and the id of each thing that changed. */
  watchChanges(watcher: (noun: string, id: string) => void): () => void {
    this.#changeWatchers.add(watcher);
    return () => this.#changeWatchers.delete(watcher);
  }

  start(): () => void {
    this.#connect();
    const offline = () => this.#lose();
    globalThis.addEventListener("offline", offline);
    return () => {
      globalThis.removeEventListener("offline", offline);
      this.#source?.close();
      this.#source = undefined;
      this.#stopPolling?.();
      this.#stopPolling = undefined;
      this.#set(CONNECTED);
    };
  }

  #connect(): void {
    const source = new EventSource(EVENTS_PATH);
    this.#source = source;
    source.addEventListener("open", () => {
      this.#stopPolling?.();
      this.#stopPolling = undefined;
      this.#set(CONNECTED);
      // Events may have been missed while the connection was away.
      if (this.#hasOpened) void queryClient.invalidateQueries();
      this.#hasOpened = true;
    });
    source.addEventListener("error", () => {
      if (source !== this.#source) return;
      if (this.#hasOpened) this.#lose();
      else this.#poll();
      if (source.readyState === EventSource.CLOSED) {
        later(AGAIN_MS, () => source === this.#source && this.#connect());
      }
    });
    // The server has forgotten what was missed: everything on the screen is asked again.
    source.addEventListener("reset", () => void queryClient.invalidateQueries());
    for (const name of Object.keys(STALE)) {
      source.addEventListener(name, (event: MessageEvent<string>) => this.#hear(name, event.data));
    }
  }

  #hear(name: string, data: string): void {
    const id = idOf(data);
    if (id !== undefined) for (const watcher of this.#changeWatchers) watcher(name, id);
    if (this.#stale.size === 0) later(GATHER_MS, () => this.#refresh());
    for (const noun of STALE[name] ?? []) this.#stale.add(noun);
  }

  #refresh(): void {
    for (const noun of this.#stale) void queryClient.invalidateQueries({ queryKey: [noun] });
    this.#stale.clear();
  }

  #poll(): void {
    this.#stopPolling ??= every(POLL_MS, () => void queryClient.invalidateQueries());
  }

  #lose(): void {
    if (this.#state.isConnected) this.#set({ isConnected: false, lostAt: now() });
  }

  #set(state: LiveState): void {
    this.#state = state;
    for (const watcher of this.#watchers) watcher();
  }
}

export const live = new Live();

/** True while the server can be reached, and since when it cannot be. */
export function useLive(): LiveState {
  return useSyncExternalStore(live.watch, () => live.state);
}

function idOf(data: string): string | undefined {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value !== "object" || value === null || !("id" in value)) return undefined;
    return typeof value.id === "number" || typeof value.id === "string" ? String(value.id) : undefined;
  } catch {
    return undefined;
  }
}
