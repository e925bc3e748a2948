import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { asId, type InstanceId } from "../../server/src/base/ids.ts";
import { Tickets, ticketText } from "../../server/src/domains/serverless/routing/tickets.ts";
import { aReadyWorker, authFor } from "../test/place.ts";
import { isTicketGood } from "./ticket.ts";

test("a signature alone is not enough: the ticket covers endpoint, number, cost and time of each request", async (t) => {
  const { ask, url, clock } = await aReadyWorker(t, (_request, response) => void response.end("done"));
  const own = authFor(url, { expires_at: epochSeconds(clock) + 300 });
  const forgeries = { endpoint: "other", cost: 1, reqnum: 9, request_idx: 9, expires_at: epochSeconds(clock) + 9_999 };
  for (const [field, value] of Object.entries(forgeries)) {
    assert.equal((await ask("/work", { auth: { ...own, [field]: value } })).status, 401, field);
  }
  for (const ticket of ["", "AAAA", "A".repeat(43)]) {
    assert.equal((await ask("/work", { auth: { ...own, ticket } })).status, 401, ticket);
  }
  clock.advance(300_000);
  const late = await ask("/work", { auth: { ...own } });
  assert.deepEqual(
    [late.status, await late.json()],
    [401, { error: "the ticket has expired: have the request routed again" }],
  );
  const fresh = authFor(url, { expires_at: epochSeconds(clock) + 300 });
  assert.equal((await ask("/work", { auth: { ...fresh } })).status, 200);
});

test("the worker takes a ticket of the server for any endpoint name, and no other worker takes it", () => {
  const tickets = new Tickets({ clock: new ManualClock(), tokenOf: (id) => `token ${id}` });
  const workerId = asId<InstanceId>(7);
  fc.assert(
    fc.property(
      fc.string(),
      fc.double({ min: 0, max: 1e12, noNaN: true }),
      fc.nat(),
      fc.nat(),
      (endpoint, cost, reqnum, idx) => {
        const url = "http://192.0.2.7:30007";
        const issued = tickets.issue({ endpoint, cost }, { workerId, url, cost, reqnum, requestIdx: idx });
        const said = { endpoint, url, cost, reqnum, request_idx: idx, ...issued };
        // Clients pass the fields on as JSON.
        const { request_idx: requestIdx, expires_at: expiresAt, ...rest } = JSON.parse(JSON.stringify(said));
        const auth = { ...rest, requestIdx, expiresAt, signature: "" };
        assert.ok(isTicketGood(auth, "token 7"), ticketText(said));
        assert.ok(!isTicketGood(auth, "token 8"));
        assert.ok(!isTicketGood({ ...auth, cost: cost + 1e3 }, "token 7"));
      },
    ),
  );
});

function epochSeconds(clock: ManualClock): number {
  return clock.now().getTime() / 1000;
}
