import manifest from "../../../package.json" with { type: "json" };
import type { Clock } from "../base/clock.ts";
import { useTracer } from "../base/tracing.ts";

/** Starts traces where the environment names a collector. Returns what sends the last spans; must come before all else. */
export async function startTracing(
  environment: Readonly<Record<string, string | undefined>>,
  clock: Clock,
): Promise<(() => Promise<void>) | undefined> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: shared, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = environment;
  if ((shared ?? "") === "" && (own ?? "") === "") return undefined;
  if (environment["OTEL_SDK_DISABLED"] === "true") return undefined;
  const { createOtelTracer } = await import("./otel.ts");
  const { tracer, stop } = createOtelTracer(environment, { version: manifest.version, clock });
  useTracer(tracer);
  return async () => {
    useTracer(undefined);
    // A collector that is away must not hold up the end of the process, nor make it fail.
    await stop().catch(() => undefined);
  };
}
