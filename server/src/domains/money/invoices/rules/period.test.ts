import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { AppError } from "../../../../base/errors.ts";
import { parseMoment } from "../../../../base/moment.ts";
import { parsePeriod } from "./period.ts";

const start = (text: string) => parseMoment(text, { isEnd: false })?.toISOString();
const end = (text: string) => parseMoment(text, { isEnd: true })?.toISOString();

test("seconds since 1970 are read as integers and as the decimals that clients send", () => {
  assert.equal(start("1700000000"), "2023-11-14T22:13:20.000Z");
  assert.equal(start("1700000000.5"), "2023-11-14T22:13:20.500Z");
  assert.equal(start("1700000000.0"), "2023-11-14T22:13:20.000Z");
  assert.equal(start("1.7e9"), "2023-11-14T22:13:20.000Z");
  assert.equal(start("0"), "1970-01-01T00:00:00.000Z");
  assert.equal(start("-3600"), "1969-12-31T23:00:00.000Z");
});

test("ISO 8601 is read with and without time, fraction and zone", () => {
  assert.equal(start("2024-02-29"), "2024-02-29T00:00:00.000Z");
  assert.equal(start("2024-02-29T12:30"), "2024-02-29T12:30:00.000Z");
  assert.equal(start("2024-02-29 12:30:15"), "2024-02-29T12:30:15.000Z");
  assert.equal(start("2024-02-29T12:30:15.123456Z"), "2024-02-29T12:30:15.123Z");
  assert.equal(start("2024-02-29T12:30:15+02:00"), "2024-02-29T10:30:15.000Z");
  assert.equal(start("2024-02-29T12:30:15 0200"), "2024-02-29T10:30:15.000Z");
  assert.equal(start("2024-02-29t12:30-05:30"), "2024-02-29T18:00:00.000Z");
});

test("month, day and year with slashes are read in that order", () => {
  assert.equal(start("03/04/2024"), "2024-03-04T00:00:00.000Z");
  assert.equal(start("3/4/2024"), "2024-03-04T00:00:00.000Z");
});

test("a date as the end includes the whole day, a date-time is exact", () => {
  assert.equal(end("2024-02-29"), "2024-02-29T23:59:59.999Z");
  assert.equal(end("02/29/2024"), "2024-02-29T23:59:59.999Z");
  assert.equal(end("2024-02-29T12:30"), "2024-02-29T12:30:00.000Z");
});

test("a text that is no moment is refused", () => {
  const malformed = [
    "yesterday",
    "2023-02-29",
    "2024-13-01",
    "2024-00-10",
    "2024-1-1",
    "2024-01-01T24:00",
    "2024-01-01T12",
    "2024-01-01T12:60",
    "2024-01-01Z",
    "2024-01-01T10:00junkZ",
    "2024-01-01T10:00:00.1.2",
    "13/01/2024",
    "02/30/2024",
    "01/01/24",
    "1700000000000",
    "1e30",
    "NaN",
    "Infinity",
    "0x10",
    "--1",
    "1.",
    "10000-01-01",
    "2024-01-01T10:00+99:00",
  ];
  for (const text of malformed) assert.equal(start(text), undefined, text);
});

test("a period may be open at either end, and from a moment to the same moment", () => {
  assert.deepEqual(parsePeriod({ sdate: undefined, edate: undefined }), { from: undefined, to: undefined });
  assert.deepEqual(parsePeriod({ sdate: "5", edate: undefined }), { from: new Date(5000), to: undefined });
  assert.deepEqual(parsePeriod({ sdate: "5", edate: "5" }), { from: new Date(5000), to: new Date(5000) });
});

test("the refusal names the wrong field", () => {
  const fieldOf = (period: Parameters<typeof parsePeriod>[0]) => {
    try {
      parsePeriod(period);
      return undefined;
    } catch (error) {
      return error instanceof AppError ? error.extra["field"] : error;
    }
  };
  assert.equal(fieldOf({ sdate: "x", edate: undefined }), "sdate");
  assert.equal(fieldOf({ sdate: "1", edate: "x" }), "edate");
  assert.equal(fieldOf({ sdate: "6", edate: "5" }), "sdate");
});

test("every moment of the calendar survives being written as ISO 8601 and as seconds", () => {
  const moments = fc.date({ min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true });
  fc.assert(
    fc.property(moments, (moment) => {
      assert.equal(start(moment.toISOString()), moment.toISOString());
      const seconds = Math.floor(moment.getTime() / 1000);
      assert.equal(start(String(seconds)), new Date(seconds * 1000).toISOString());
    }),
  );
});

test("no text makes the reader fail", () => {
  const texts = fc.oneof(fc.string(), fc.stringMatching(/^[\dTZ:+\-/. e]{0,30}$/));
  fc.assert(
    fc.property(texts, fc.boolean(), (text, isEnd) => {
      const moment = parseMoment(text, { isEnd });
      assert.ok(moment === undefined || !Number.isNaN(moment.getTime()));
    }),
  );
});
