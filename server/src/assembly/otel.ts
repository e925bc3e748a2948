import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags, type Span as OtelSpan } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Clock } from "../base/clock.ts";
import type { Attributes, Span, Tracer } from "../base/tracing.ts";

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL } as const;

/**
 * Sends spans by OTLP over HTTP, in batches, to where `OTEL_EXPORTER_OTLP_ENDPOINT` says. Loaded only when that is set. Spans
 * that a collector does not take are dropped; nothing waits for it.
 */
export function createOtelTracer(
  environment: Readonly<Record<string, string | undefined>>,
  { version, clock }: { readonly version: string; readonly clock: Clock },
) {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own, OTEL_EXPORTER_OTLP_ENDPOINT: shared = "" } = environment;
  const url = own || `${shared.replace(/\/$/, "")}/v1/traces`;
  const ratio = Number(environment["OTEL_TRACES_SAMPLER_ARG"] ?? 1);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.name": environment["OTEL_SERVICE_NAME"] ?? "berth-server",
      "service.version": version,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio >= 0 && ratio <= 1 ? ratio : 1) }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url }) })],
  });
  const otel = provider.getTracer("berth");
  const known = new WeakMap<Span, OtelSpan>();
  const tracer: Tracer = {
    start(name, { kind, attributes, parent, traceparent, sinceMs = 0 }) {
      const above = parent === undefined ? undefined : known.get(parent);
      const around = above === undefined ? remote(traceparent) : trace.setSpan(ROOT_CONTEXT, above);
      const startTime = sinceMs === 0 ? {} : { startTime: clock.now().getTime() - sinceMs };
      const made = otel.startSpan(name, { kind: KINDS[kind], attributes: present(attributes), ...startTime }, around);
      const span: Span = {
        set: (more) => void made.setAttributes(present(more)),
        end(error) {
          if (error !== undefined) {
            made.setStatus({ code: SpanStatusCode.ERROR });
            made.setAttribute("error.type", error instanceof Error ? error.name : "unknown");
          }
          made.end();
        },
      };
      known.set(span, made);
      return span;
    },
  };
  return { tracer, stop: () => provider.shutdown() };
}

function remote(traceparent: string | undefined) {
  const [, traceId = "", spanId = "", flags = "00"] = traceparent?.split("-") ?? [];
  if (traceId === "") return ROOT_CONTEXT;
  const traceFlags = flags === "01" ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

function present(attributes: Attributes): Record<string, string | number> {
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
