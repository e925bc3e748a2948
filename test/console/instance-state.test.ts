// Sentences of an instance's state, without a browser.
import assert from "node:assert/strict";
import { test } from "node:test";
import { stateOf } from "../../console/src/parts/instance-state.ts";

const NOW = 1_800_000_000;
const RUNNING = {
  actual_status: "running",
  dph_base: 0.41,
  host_last_seen: NOW,
  image_uuid: "pytorch:2.9",
  interruption: null,
  pull: null,
  start_date: NOW - 90_000,
  status_msg: null,
  storage_total_cost: 0.012,
  uptime_mins: 134,
  waiting_for: null,
};

const OUTBID = {
  reason: "outbid",
  ahead: 0,
  winning_bid: 0.43,
  bid_to_run_now: 0.431,
  resumes_no_earlier_than: null,
} as const;

test("the sentence beside an instance's state has its numbers", () => {
  const cases = [
    [RUNNING, "running", "Running for 2 h 14 m"],
    [{ ...RUNNING, uptime_mins: null }, "running", "Running for 1 d 1 h"],
    [{ ...RUNNING, actual_status: "exited" }, "stopped", "Stopped; its disk costs $0.012/h"],
    [
      { ...RUNNING, actual_status: "offline", host_last_seen: NOW - 180 },
      "offline",
      "Its host has not been heard of for 3 m; you are not charged",
    ],
    [{ ...RUNNING, waiting_for: OUTBID }, "waiting", "Outbid by $0.02/h; next in line; runs now for $0.431/h"],
    [
      { ...RUNNING, waiting_for: { ...OUTBID, ahead: 2, winning_bid: null, bid_to_run_now: null } },
      "waiting",
      "Outbid; 2 ahead",
    ],
    [{ ...RUNNING, waiting_for: { ...OUTBID, reason: "host" } }, "waiting", "Waits until its host is back"],
    [
      { ...RUNNING, interruption: { ...OUTBID, noticed_at: NOW, stops_at: NOW + 27 } },
      "yielding",
      "Outbid at $0.43/h: stops in 27 s; its data is kept and it resumes by itself",
    ],
    [
      {
        ...RUNNING,
        actual_status: "loading",
        pull: { done_bytes: 3.1e9, total_bytes: 6.4e9, bytes_per_second: 210e6, eta_seconds: 16 },
      },
      "loading",
      "Pulling pytorch:2.9: 3.1 GB of 6.4 GB, 210 MB/s, about 16 s",
    ],
  ] as const;
  for (const [instance, state, sentence] of cases) assert.deepEqual(stateOf(instance, NOW), { state, sentence });
});
