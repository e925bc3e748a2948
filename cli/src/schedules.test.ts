import assert from "node:assert/strict";
import { test } from "node:test";
import { answer } from "../test/answering-server.ts";

const PATH = "/api/v0/commands/schedule_job/";
const DUE = Date.UTC(2026, 0, 1, 3) / 1_000;
const RUN = {
  due_time: DUE,
  last_due_time: DUE,
  occurrences: 1,
  outcome: "failed",
  api_key_id: 5,
  http_status: 404,
  error: "no_such_instance",
  msg: "There is no instance 7.",
  start_time: DUE,
  end_time: DUE,
};
const JOB = {
  id: 8,
  instance_id: 7,
  api_endpoint: "/api/v0/instances/reboot/7/",
  request_method: "PUT",
  start_time: DUE - 3_600,
  end_time: DUE + 86_400,
  day_of_the_week: 1,
  hour_of_the_day: 3,
  min_of_the_hour: 5,
  frequency: "WEEKLY",
  status: "active",
  stop_reason: null,
  next_time: DUE + 86_400,
  api_key_id: 5,
  created_at: DUE,
  last_run: RUN,
};
const MADE = { success: true, scheduled_job_id: 8, msg: "Scheduled job 8 is created." };
const REBOOT = ["schedule", "create", "put", JOB.api_endpoint] as const;

test("a job is made with the rhythm that its options say", async (t) => {
  const { received, berth } = await answer(t, { [`POST ${PATH}`]: { body: MADE } });
  const made = await berth(...REBOOT, "--weekly", "mon 03:05", "--instance", "7", "--body", '{"a": null}');
  assert.equal(made.stdout, "Scheduled job 8 is created. See its runs: berth schedule runs 8\n", made.stderr);
  await berth(...REBOOT, "--daily", "3:30", "--until", "2026-02-01");
  await berth(...REBOOT, "--hourly", "15", "--from", "2026-01-02T12:00");
  await berth(...REBOOT, "--once", "2026-01-01T03:00");
  const request = { api_endpoint: JOB.api_endpoint, request_method: "PUT" };
  const weekly = { frequency: "WEEKLY", day_of_the_week: 1, hour_of_the_day: 3, min_of_the_hour: 5 };
  const daily = { frequency: "DAILY", hour_of_the_day: 3, min_of_the_hour: 30, end_time: DUE + 31 * 86_400 - 10_800 };
  const hourly = { frequency: "HOURLY", min_of_the_hour: 15, start_time: DUE + 33 * 3_600 };
  assert.deepEqual(
    received.map(([, body]) => body),
    [
      { ...request, ...weekly, instance_id: 7, request_body: { a: null } },
      { ...request, ...daily },
      { ...request, ...hourly },
      { ...request, frequency: "ONCE", start_time: DUE },
    ],
  );
});

test("a job without a time, with two, or with one that there is not, is refused before it is sent", async (t) => {
  const { received, berth } = await answer(t, {});
  for (const [options, expected] of [
    [[], /no time/],
    [["--daily", "03:00", "--hourly", "5"], /several rhythms/],
    [["--once", "2026-01-01", "--until", "2026-01-02"], /--until/],
    [["--daily", "24:00"], /time of the day/],
    [["--weekly", "someday 03:00"], /a day and a time/],
    [["--hourly", "60"], /0 to 59/],
  ] as const) {
    const { code, stderr } = await berth(...REBOOT, ...options);
    assert.deepEqual([code, expected.test(stderr)], [2, true], stderr);
  }
  const { code } = await berth("schedule", "create", "PATCH", "/api/v0/instances/7/", "--daily", "03:00");
  assert.equal(code, 2);
  assert.deepEqual(received, []);
});

test("the list shows when jobs run and what became of the last run, and the runs say why", async (t) => {
  const missed = { ...RUN, outcome: "missed", occurrences: 3, http_status: null, error: null, msg: "No server ran." };
  const { berth } = await answer(t, {
    [`GET ${PATH}`]: { body: [JOB] },
    [`GET ${PATH}8/runs/`]: { body: [RUN, missed] },
  });
  const list = (await berth("schedule", "list")).stdout;
  assert.match(list, /monday 03:05 +2026-01-02 03:00 +2026-01-02 03:00 +5 +failed no_such_instance 2026-01-01 03:00/);
  const runs = (await berth("schedule", "runs", "8")).stdout;
  assert.match(runs, /2026-01-01 03:00 +failed +404 +no_such_instance +5 +There is no instance 7\./);
  assert.match(runs, /missed 3 times/);
  assert.deepEqual(JSON.parse((await berth("schedule", "list", "--json")).stdout), [JOB]);
});

test("a job is changed by what is given only, and deleted", async (t) => {
  const { received, berth } = await answer(t, {
    [`PUT ${PATH}8/`]: { body: { ...MADE, msg: "Scheduled job 8 is changed." } },
    [`DELETE ${PATH}8/`]: { body: { success: true, msg: "Scheduled job 8 is deleted." } },
  });
  assert.equal((await berth("schedule", "update", "8", "--hourly", "30")).stdout, "Scheduled job 8 is changed.\n");
  assert.equal((await berth("schedule", "delete", "8")).stdout, "Scheduled job 8 is deleted.\n");
  assert.deepEqual(received[0], [`PUT ${PATH}8/`, { frequency: "HOURLY", min_of_the_hour: 30 }]);
});
