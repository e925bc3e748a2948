import assert from "node:assert/strict";
import { test } from "node:test";
import { testHttp } from "../../../test/support/network/http.ts";
import { testDatabase } from "../../../test/support/database/postgres.ts";
import { createLog } from "../base/log.ts";
import { registerRequestLog } from "./request-log.ts";

const { database } = await testDatabase();

test("each request has its line, without path, query or key, also where the log shows errors only", async () => {
  const lines: string[] = [];
  const log = createLog("error", { write: (line) => void lines.push(line) });
  const { call } = await testHttp(database, (scope) => {
    registerRequestLog(scope, log);
    const access = { operation: "api.instance.try", permission: "public" } as const;
    scope.app.get("/try/:id/", { config: { access } }, async () => ({ success: true }));
  });
  const { headers } = await call({ url: "/try/7/?api_key=hidden" });
  const [line = "{}"] = lines;
  const { level, time, ms, request_id: requestId, ...rest } = JSON.parse(line) as Record<string, unknown>;
  assert.deepEqual([level, typeof time, typeof ms, requestId], [30, "number", "number", headers["x-request-id"]]);
  const expected = { operation: "api.instance.try", method: "GET", route: "/try/:id/", status: 200, instance_id: 7 };
  assert.deepEqual(rest, { ...expected, msg: "request" });
  assert.ok(!line.includes("hidden"));
});
