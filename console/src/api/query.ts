import { queryOptions } from "@tanstack/react-query";
import type { CallOptions, Client } from "../../../sdk/src/index.ts";
import { client } from "./client.ts";

/** Nouns of the API. An event about a noun makes all its queries stale, which are then asked again (live.ts). */
export type Noun =
  | "account"
  | "audit"
  | "balance"
  | "cloud"
  | "endpoint"
  | "host"
  | "instance"
  | "key"
  | "machine"
  | "notification"
  | "offer"
  | "operator"
  | "queue"
  | "schedule"
  | "team"
  | "template"
  | "volume";

/** The name of a query: its noun, and which of the noun's queries it is, such as `instance.page`. */
export type QueryName = `${Noun}.${string}`;

type Operation<I, A> = (client: Client, input: I, options?: CallOptions) => Promise<A>;
type PlainOperation<A> = (client: Client, options?: CallOptions) => Promise<A>;

/** Options of `useQuery` for an operation of the SDK with an input: `useQuery(ask("instance.page", instancePage, {}))`. */
export function ask<I, A>(name: QueryName, operation: Operation<I, A>, input: I) {
  return queryOptions({
    queryKey: [nounOf(name), name, input],
    queryFn: ({ signal }) => operation(client, input, { signal }),
  });
}

/** The same for an operation without an input: `useQuery(askPlain("account.me", userShow))`. */
export function askPlain<A>(name: QueryName, operation: PlainOperation<A>) {
  return queryOptions({
    queryKey: [nounOf(name), name],
    queryFn: ({ signal }) => operation(client, { signal }),
  });
}

function nounOf(name: QueryName): string {
  return name.split(".")[0] ?? name;
}
