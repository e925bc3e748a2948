// Spans of what the server does. Without a tracer, which is the rule, nothing here costs more than a look at a variable.
import { AsyncLocalStorage } from "node:async_hooks";

export type Attributes = Readonly<Record<string, string | number | undefined>>;

export type Span = {
  readonly set: (attributes: Attributes) => void;
  /** Ends the span, as failed when there is an error. Of the error only its type is told: its text may hold data. */
  readonly end: (error?: unknown) => void;
};

/** The beginning of a span: below another one, or below what a W3C `traceparent` names. */
export type SpanStart = {
  readonly kind: "server" | "client" | "internal";
  readonly attributes: Attributes;
  readonly parent?: Span | undefined;
  readonly traceparent?: string | undefined;
  /** Milliseconds that have passed since the span began. */
  readonly sinceMs?: number;
};

export type Tracer = { readonly start: (name: string, start: SpanStart) => Span };

let tracer: Tracer | undefined;
const spans = new AsyncLocalStorage<Span | undefined>();

/** Sets the tracer of this process, at its start; undefined takes it away. */
export function useTracer(given: Tracer | undefined): void {
  tracer = given;
}

export function isTracing(): boolean {
  return tracer !== undefined;
}

/** Begins a span that its caller ends; undefined without a tracer. */
export function startSpan(name: string, start: SpanStart): Span | undefined {
  return tracer?.start(name, { parent: spans.getStore(), ...start });
}

/** Runs `work` so that spans which begin in it are below this one. */
export function within<T>(span: Span | undefined, work: () => T): T {
  return span === undefined ? work() : spans.run(span, work);
}

/** Runs `work` as a span of its own. */
export async function traced<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  if (tracer === undefined) return work();
  const span = tracer.start(name, { kind: "internal", attributes, parent: spans.getStore() });
  try {
    const result = await spans.run(span, work);
    span.end();
    return result;
  } catch (error) {
    span.end(error ?? new Error("unknown"));
    throw error;
  }
}

/** The name of an SQL statement without its values: its verb and its first table, such as `update instances`. */
export function statementName(text: string): string {
  const plain = text.replace(/"/g, "").trim().toLowerCase();
  const verb = /^[a-z]+/.exec(plain)?.[0] ?? "statement";
  const target = /\b(?:from|into|update|table)\s+([a-z_][a-z0-9_]*)/.exec(plain)?.[1];
  return target === undefined ? verb : `${verb} ${target}`;
}
