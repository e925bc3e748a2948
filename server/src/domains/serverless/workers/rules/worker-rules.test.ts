import assert from "node:assert/strict";
import { test } from "node:test";
import { addServing, NOTHING_SEEN, observedPerfOf, type PerfWindow } from "./perf-window.ts";
import { readAddress } from "../worker-address.ts";
import { readFinished, readReport, readSpeaker } from "./worker-report.ts";
import { backOffMs, inWords } from "../../autoscaling/worker-standing.ts";

/** Feeds one report each second, all with these values. */
function watch(said: { readonly servedLoad: number; readonly currentLoad: number }, claimed: number, seconds = 30) {
  let window: PerfWindow = NOTHING_SEEN;
  for (let second = 0; second < seconds; second += 1) {
    window = addServing(window, { atMs: second * 1000, ...said }, claimed);
  }
  return observedPerfOf(window);
}

test("only a worker that never ran out of work shows how much it serves", () => {
  assert.equal(watch({ servedLoad: 100, currentLoad: 5_000 }, 1_000), 100, "it claims too much");
  assert.equal(watch({ servedLoad: 300, currentLoad: 500 }, 100), 300, "it claims too little");
  assert.equal(watch({ servedLoad: 100, currentLoad: 500 }, 1_000), undefined, "it had little to do at a time");
  assert.equal(watch({ servedLoad: 100, currentLoad: 50 }, 10), undefined, "it may have been idle between");
  assert.equal(watch({ servedLoad: 0, currentLoad: 5_000 }, 1_000), undefined, "one long request has not ended");
  assert.equal(watch({ servedLoad: 100, currentLoad: 5_000 }, 1_000, 6), undefined, "a few seconds say little");
});

test("reports that come too close, or too far apart, distort nothing", () => {
  let window: PerfWindow = NOTHING_SEEN;
  for (let second = 0; second < 30; second += 1) {
    window = addServing(window, { atMs: second * 1000, servedLoad: 60, currentLoad: 5_000 }, 1_000);
    window = addServing(window, { atMs: second * 1000 + 1, servedLoad: 40, currentLoad: 5_000 }, 1_000);
  }
  assert.equal(observedPerfOf(window), 100);
  window = NOTHING_SEEN;
  for (let minute = 0; minute < 30; minute += 1) {
    window = addServing(window, { atMs: minute * 60_000, servedLoad: 60, currentLoad: 1e9 }, 1_000);
  }
  assert.equal(observedPerfOf(window), undefined);
});

test("missing, wrong and unknown members of a report count as absent", () => {
  const nothing = readReport({});
  assert.deepEqual([nothing.loadSeconds, nothing.failure, nothing.claimedPerf], [0, "", undefined]);
  const odd = readReport({
    loadtime: "soon",
    cur_load: -5,
    cur_perf: Number.NaN,
    max_perf: 0,
    num_requests_working: 1.6,
    working_request_idxs: [3, "4", -1, 2.5, 9],
    error_msg: 7,
  });
  assert.deepEqual([odd.currentLoad, odd.servedLoad, odd.claimedPerf, odd.workingCount], [0, 0, undefined, 2]);
  assert.deepEqual(odd.workingRequestIdxs, [3, 9]);
  assert.equal(readReport({ loadtime: 3, error_msg: "broken" }).loadSeconds, 0);
  assert.equal(readReport({ error_msg: "a\0\ud800b" }).failure, "a\ufffdb");
  assert.deepEqual(readSpeaker({ id: "17", mtoken: 5 }, "id"), { instanceId: 17, token: "" });
  assert.deepEqual(readFinished({ requests: [{ request_idx: 4 }, null, { request_idx: "5" }] }), [4]);
  assert.deepEqual(readFinished({ request_idxs: [4, 5], success: false }), [4, 5]);
});

test("an address is its worker's own by host and mapped port, over IPv6 too, and in its plain form only", () => {
  const site = { ipAddress: "2001:db8::1", isOperated: true, hostPorts: new Set([443, 40_000]) };
  assert.deepEqual(readAddress("https://[2001:db8::1]", site), { kind: "own", url: "https://[2001:db8::1]:443" });
  assert.deepEqual(readAddress("http://[2001:db8::1]:40000/", site), {
    kind: "own",
    url: "http://[2001:db8::1]:40000",
  });
  for (const written of ["http://2001:db8::1:40000", "http://2001:DB8:0::1:40000/"]) {
    assert.deepEqual(readAddress(written, site), { kind: "own", url: "http://[2001:db8::1]:40000" }, written);
  }
  for (const url of ["http://2001:db8::1", "http://2001:db8::2:40000", "http://2001:db8::1:40000/a"]) {
    assert.deepEqual(readAddress(url, site), { kind: "foreign" }, url);
  }
  for (const url of ["https://[2001:db8::2]", "http://[2001:db8::1]", "http://[2001:db8::1]:40000/?a", "//x", ""]) {
    assert.deepEqual(readAddress(url, site), { kind: "foreign" }, url);
  }
  assert.deepEqual(
    readAddress("http://192.0.2.1:1", { ipAddress: "192.0.2.1", isOperated: true, hostPorts: undefined }),
    {
      kind: "unknown",
    },
  );
});

test("the back-off doubles from ten seconds to an hour", () => {
  assert.deepEqual([0, 1, 2, 3, 9, 10, 1e6].map(backOffMs), [1e4, 1e4, 2e4, 4e4, 256e4, 36e5, 36e5]);
  assert.deepEqual([inWords(30_000), inWords(119_000), inWords(600_000)], ["30 seconds", "119 seconds", "10 minutes"]);
});
