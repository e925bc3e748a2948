import assert from "node:assert/strict";
import { test } from "node:test";
import { briefNote, maintenanceText, noticeText, reservedText, waitingText, type Terms } from "./instance-notes.ts";

const NOW = new Date(0);
const plain: Terms = {
  id: 7,
  is_bid: true,
  is_reserved: false,
  dph_base: 0.2,
  credit_balance: null,
  credit_discount: null,
  interruption: null,
  waiting_for: null,
  maintenance: [],
};

test("an instance that runs undisturbed has nothing to note", () => {
  assert.equal(briefNote(plain, NOW), "");
  const texts = [noticeText(plain, NOW), waitingText(plain, NOW), reservedText(plain), maintenanceText(plain)];
  assert.deepEqual(texts, [undefined, undefined, undefined, ""]);
});

test("an eviction notice shows its reason, its end, and the bid that averts it", () => {
  const interruption = {
    reason: "outbid",
    noticed_at: 0,
    stops_at: 12,
    winning_bid: 0.3,
    bid_to_run_now: 0.301,
  } as const;
  assert.equal(noticeText({ ...plain, interruption }, NOW), "outbid; stops in 12 s, stays with: berth bid 7 0.301");
  assert.equal(briefNote({ ...plain, interruption }, NOW), "stops in 12 s: outbid");
  const taken = { ...interruption, reason: "on_demand", winning_bid: null, bid_to_run_now: null } as const;
  assert.equal(noticeText({ ...plain, interruption: taken }, NOW), "rented on demand; stops in 12 s");
});

test("a waiting instance shows the reason, its rank, and the bid that ends the wait", () => {
  const outbid = { reason: "outbid", ahead: 2, winning_bid: 0.3, bid_to_run_now: 0.301 } as const;
  const waiting = { ...plain, waiting_for: { ...outbid, resumes_no_earlier_than: 60 } };
  const said = waitingText(waiting, NOW);
  assert.match(said ?? "", /^outbid by \$0\.30 per hour; .*2.*; not before .*in 60 s\); .*berth bid 7 0\.301$/);
  assert.equal(briefNote(waiting, NOW), "waits: outbid by $0.30 per hour");
  const away = {
    reason: "host",
    ahead: 0,
    winning_bid: null,
    bid_to_run_now: null,
    resumes_no_earlier_than: null,
  } as const;
  assert.match(waitingText({ ...plain, waiting_for: away }, NOW) ?? "", /^its host is away; /);
});

test("a reservation says how long its deposit lasts at the reduced price", () => {
  const reserved = { ...plain, is_bid: false, is_reserved: true, dph_base: 1, credit_balance: 8, credit_discount: 0.2 };
  assert.equal(reservedText(reserved), "20 % off for 10 h more of running; $8.00 in the deposit");
  assert.equal(briefNote(reserved, NOW), "reserved, 20 % off");
});

test("a maintenance is shown with its time, category and reason", () => {
  const window = { start_time: 0, end_time: 3600, maintenance_category: "not provided", maintenance_reason: "" };
  const power = { ...window, maintenance_category: "power", maintenance_reason: "new supply" };
  assert.equal(
    maintenanceText({ maintenance: [window, power] }),
    "1970-01-01 00:00 to 1970-01-01 01:00 UTC; 1970-01-01 00:00 to 1970-01-01 01:00 UTC, power: new supply",
  );
});
