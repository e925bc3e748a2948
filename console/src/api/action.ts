import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef } from "react";
import { ConnectionError, type CallOptions, type Client } from "../../../sdk/src/index.ts";
import { client } from "./client.ts";
import type { Noun } from "./query.ts";

type Operation<I, A> = (client: Client, input: I, options?: CallOptions) => Promise<A>;
type ActionOptions<A> = {
  /** Nouns whose queries are asked again after success. */
  readonly changes: readonly Noun[];
  readonly onDone?: (answer: A) => void;
};

/**
 * An operation that changes something: `const stop = useAction(instanceUpdate, { changes: ["instance"] })`, then
 * `stop.mutate(input)`. While no answer came, a repetition with the same input carries the same idempotency key, so the
 * server does it once.
 */
export function useAction<I, A>(operation: Operation<I, A>, { changes, onDone }: ActionOptions<A>) {
  const queries = useQueryClient();
  const unanswered = useRef<{ readonly input: string; readonly key: string } | undefined>(undefined);
  return useMutation({
    async mutationFn(input: I) {
      const text = JSON.stringify(input);
      const last = unanswered.current;
      const key = last?.input === text ? last.key : newKey();
      unanswered.current = { input: text, key };
      try {
        const answer = await operation(client, input, { idempotencyKey: key });
        unanswered.current = undefined;
        return answer;
      } catch (error) {
        if (!(error instanceof ConnectionError)) unanswered.current = undefined;
        throw error;
      }
    },
    async onSuccess(answer) {
      onDone?.(answer);
      await Promise.all(changes.map((noun) => queries.invalidateQueries({ queryKey: [noun] })));
    },
  });
}

/** A random key. `crypto.randomUUID` is missing where the console is served without TLS. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
