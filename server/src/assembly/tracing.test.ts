import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { testHttp } from "../../../test/support/network/http.ts";
import { testDatabase } from "../../../test/support/database/postgres.ts";
import { systemClock } from "../base/clock.ts";
import { traced } from "../base/tracing.ts";
import { startTracing } from "./start-tracing.ts";

type Attribute = {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
};
type ReceivedSpan = {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly Attribute[];
};

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PROXY_SPAN = "00f067aa0ba902b7";

describe("traces", () => {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const collector = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += String(chunk)));
    request.on("end", () => {
      bodies.push(`${request.url} ${text}`);
      for (const { scopeSpans } of JSON.parse(text).resourceSpans) {
        for (const scope of scopeSpans) spans.push(...scope.spans);
      }
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });

  before(async () => {
    collector.listen(0, "127.0.0.1");
    await once(collector, "listening");
  });
  after(() => void collector.close());

  test("a request, its statements and a loop reach a collector, below the span of a trusted proxy, without a value", async () => {
    const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    const stop = await startTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, systemClock);
    assert.ok(stop !== undefined);
    const { database } = await testDatabase();
    const register = ({ app, database: { kysely } }: Parameters<Parameters<typeof testHttp>[1]>[0]) => {
      const access = { operation: "api.try", permission: "public" } as const;
      app.get("/try/:id/", { config: { access } }, async () => {
        await kysely.selectFrom("users").select("id").where("email", "=", "hidden@example.com").execute();
        return { success: true };
      });
    };
    const headers = { traceparent: `00-${TRACE}-${PROXY_SPAN}-01` };
    const trusted = await testHttp(database, register, { trustedProxies: { kind: "hops", count: 1 } });
    await trusted.call({ url: "/try/7/?api_key=hidden", headers });
    const untrusted = await testHttp(database, register);
    await untrusted.call({ url: "/try/8/", headers });
    await traced("loop try", {}, async () => 1);
    await stop();

    const [request, other] = spans.filter(({ name }) => name === "GET /try/:id/");
    assert.deepEqual([request?.traceId, request?.parentSpanId], [TRACE, PROXY_SPAN]);
    assert.notEqual(other?.traceId, TRACE, "a client does not choose its trace");
    const status = request?.attributes.find(({ key }) => key === "http.response.status_code");
    assert.equal(status?.value.intValue, 200);
    const statement = spans.find(({ name, traceId }) => name === "select users" && traceId === TRACE);
    assert.equal(statement?.parentSpanId, request?.spanId);
    assert.ok(spans.some(({ name, parentSpanId }) => name === "loop try" && !parentSpanId));
    assert.ok(bodies.every((body) => body.startsWith("/v1/traces ") && !body.includes("hidden")));
  });

  test("without an endpoint nothing is loaded and nothing is traced", async () => {
    assert.equal(await startTracing({}, systemClock), undefined);
    assert.equal(
      await startTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://x", OTEL_SDK_DISABLED: "true" }, systemClock),
      undefined,
    );
  });
});
