// Renters who look, search, rent and end rentals through one address, and note each request that failed.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

/** Between two steps of a renter, so that a machine of two cores has time for servers that start. */
const PAUSE_MS = 250;

export type Load = {
  /** Answers so far, by what was asked: reads, rents that were granted, and rents that were refused. */
  readonly counts: { reads: number; rents: number; refusals: number };
  /** Requests without an answer, or with one of class 5xx. */
  readonly failures: string[];
  /** Rentals that a second sending of the same rent made beside the first. */
  readonly doubles: string[];
  stop(): Promise<void>;
};

export function startLoad(url: string, { key, renters }: { readonly key: string; readonly renters: number }): Load {
  const stopping = new AbortController();
  const load = { counts: { reads: 0, rents: 0, refusals: 0 }, failures: [], doubles: [] };
  const working = Array.from({ length: renters }, () => rentAndRead(load, { url, key, signal: stopping.signal }));
  return {
    ...load,
    async stop() {
      stopping.abort();
      await Promise.all(working);
    },
  };
}

type Means = { readonly url: string; readonly key: string; readonly signal: AbortSignal };
type Notes = Pick<Load, "counts" | "failures" | "doubles">;

async function rentAndRead(notes: Notes, means: Means): Promise<void> {
  while (!means.signal.aborted) {
    await read(notes, means, "/api/v0/instances/");
    const found = await send(notes, means, "POST", "/api/v0/bundles/", { limit: 20 });
    const offers: readonly { readonly id: number }[] = found?.body?.offers ?? [];
    const offer = offers[Math.floor(Math.random() * offers.length)];
    if (offer !== undefined) await rent(notes, means, offer.id);
    await pause(PAUSE_MS);
  }
}

/** Rents, sends the same rent once more as a client does that lost the answer, and ends the rental. */
async function rent(notes: Notes, means: Means, offerId: number): Promise<void> {
  const headers = { "idempotency-key": randomUUID() };
  const ask = () => send(notes, means, "PUT", `/api/v0/asks/${offerId}/`, { image: "debian", disk: 8 }, headers);
  const first = await ask();
  if (first?.status !== 200) {
    notes.counts.refusals += 1;
    return;
  }
  notes.counts.rents += 1;
  const id = Number(first.body.new_contract);
  const second = await ask();
  if (second?.status === 200 && Number(second.body.new_contract) !== id) notes.doubles.push(`${id}, ${second.text}`);
  await send(notes, means, "DELETE", `/api/v0/instances/${id}/`);
}

async function read(notes: Notes, means: Means, path: string): Promise<void> {
  if ((await send(notes, means, "GET", path))?.status === 200) notes.counts.reads += 1;
}

// Callers read the form of the body themselves; it is undefined when the answer is no JSON.
// oxlint-disable-next-line typescript/no-explicit-any
type Answer = { readonly status: number; readonly text: string; readonly body: any };

async function send(
  notes: Notes,
  { url, key }: Means,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer | undefined> {
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (response.status >= 500) notes.failures.push(`${method} ${path}: ${response.status} ${text}`);
    const isJson = response.headers.get("content-type") === "application/json";
    return { status: response.status, text, body: isJson ? JSON.parse(text) : undefined };
  } catch (error) {
    const { message, cause } = error instanceof Error ? error : new Error(String(error));
    notes.failures.push(`${method} ${path}: ${message} ${String(cause ?? "")}`);
    return undefined;
  }
}
