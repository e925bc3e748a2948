import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import type { Job, JobResult } from "./load-process.ts";

export type LoadGenerator = {
  run(job: Job): Promise<JobResult>;
  stop(): void;
};

/** Starts the load generator in a process of its own, so that it does not share an event loop with what it measures. */
export function startLoadGenerator(): LoadGenerator {
  const child = fork(path.join(import.meta.dirname, "load-process.ts"), { serialization: "advanced" });
  return {
    async run(job) {
      child.send(job);
      const [message] = (await once(child, "message")) as [{ result?: JobResult; problem?: string }];
      if (message.result === undefined) throw new Error(`the load generator failed: ${message.problem}`);
      return message.result;
    },
    stop: () => child.disconnect(),
  };
}

export type RequestParts = {
  readonly method: "GET" | "POST" | "PUT";
  readonly path: string;
  readonly secret?: string;
  readonly idempotencyKey?: string;
  readonly body?: unknown;
};

/** A request as it goes over the wire. */
export function requestText({ method, path: target, secret, idempotencyKey, body }: RequestParts): string {
  const text = body === undefined ? "" : JSON.stringify(body);
  return [
    `${method} ${target} HTTP/1.1`,
    "host: 127.0.0.1",
    ...(secret === undefined ? [] : [`authorization: Bearer ${secret}`]),
    ...(idempotencyKey === undefined ? [] : [`idempotency-key: ${idempotencyKey}`]),
    ...(body === undefined ? [] : ["content-type: application/json", `content-length: ${Buffer.byteLength(text)}`]),
    "",
    text,
  ].join("\r\n");
}
