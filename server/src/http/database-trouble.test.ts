import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sql } from "kysely";
import { aCaller } from "../../../test/support/fixtures.ts";
import { testHttp } from "../../../test/support/network/http.ts";
import { testDatabase } from "../../../test/support/database/postgres.ts";
import { createLog } from "../base/log.ts";
import { connect } from "../db/connect.ts";
import type { HttpScope } from "./server.ts";
import { aFactKeeper } from "../../../test/support/database/facts.ts";

const { database } = await testDatabase();
const { secret } = await aCaller(database);

function routes({ app, mutate }: HttpScope): void {
  const open = { access: { operation: "api.open.create", permission: "public" } } as const;
  app.post("/raise/:state/", { config: open }, (request) =>
    mutate(request, async (tx) => {
      const { state } = request.params as { readonly state: string };
      await sql`select set_config('berth_test.state', ${state}, true)`.execute(tx.db);
      await sql`do $$ begin raise exception 'planted' using errcode = current_setting('berth_test.state'); end $$`.execute(
        tx.db,
      );
    }),
  );
  const cut = { access: { operation: "api.cut.create", permission: "public" } } as const;
  app.post("/cut/", { config: cut }, (request) =>
    mutate(request, (tx) => sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx.db)),
  );
  const known = { access: { operation: "api.known.create", permission: "misc" } } as const;
  app.post("/known/", { config: known }, async () => ({}));
}

test("trouble of the database is 503 with Retry-After, and a defect of ours stays 500", async () => {
  const http = await testHttp(database, routes);
  const cases = [
    ["/raise/53100/", 503, "a full disk"],
    ["/raise/53300/", 503, "too many connections"],
    ["/raise/57P01/", 503, "an operator's shutdown"],
    ["/raise/25006/", 503, "a standby"],
    ["/cut/", 503, "a connection that is cut"],
    ["/raise/23505/", 500, "a broken constraint"],
    ["/raise/42601/", 500, "a wrong statement"],
  ] as const;
  for (const [url, status, what] of cases) {
    const answer = await http.call({ method: "POST", url });
    assert.deepEqual([answer.status, answer.headers["retry-after"]], [status, status === 503 ? "2" : undefined], what);
    assert.equal(answer.body.error, status === 503 ? "database_unavailable" : "internal_error", what);
    assert.ok(!answer.text.includes("planted"), "the caller learns nothing of the inside");
  }
});

test("while PostgreSQL is away, keys that nobody remembers get 503 and not 401", async () => {
  for (const away of [{ host: "127.0.0.1", port: 1 }, { host: "/nonexistent" }]) {
    const nowhere = connect({ ...away, user: "berth", database: "berth" }, createLog("silent"), aFactKeeper());
    after(() => nowhere.close());
    const http = await testHttp(nowhere, routes);
    const answer = await http.call({ method: "POST", url: "/known/", secret });
    assert.deepEqual([answer.status, answer.body.error], [503, "database_unavailable"], away.host);
  }
});
