import assert from "node:assert/strict";
import { test } from "node:test";
import { listInOrder, readPageToken, writePageToken, type PagedList } from "./page-token.ts";

const DAYS = { name: "days", types: ["integer", "text"] } as const satisfies PagedList;
const COLUMNS = { label: { type: "text" }, price: { type: "number" }, id: { type: "integer" } } as const;
const encode = (content: unknown) => Buffer.from(JSON.stringify(content)).toString("base64url");
const REFUSED = { kind: "invalid", code: "invalid_token", extra: { field: "after_token" } };

test("a token is read as the place that it was written with; no token is no place", () => {
  assert.deepEqual(readPageToken(DAYS, writePageToken(DAYS, [-7, "ü"])), [-7, "ü"]);
  for (const none of [undefined, ""]) assert.equal(readPageToken(DAYS, none), undefined);
});

test("a token of another list, or with values of other types, is refused", () => {
  const others = [
    "x",
    encode(7),
    encode(null),
    encode({ name: "days" }),
    encode(["days", 1]),
    encode(["days", 1, "a", 2]),
    encode(["weeks", 1, "a"]),
    encode(["days", "1", "a"]),
    encode(["days", 1.5, "a"]),
    encode(["days", 2 ** 53, "a"]),
    encode(["days", 1, 2]),
    encode(["days", null, "a"]),
    encode(["days", 1, null]),
    encode(["days", 1, "\0"]),
    encode(["days", 1, "\ud800"]),
    encode(["days", 1, "a".repeat(20_000)]),
  ];
  for (const token of others) assert.throws(() => readPageToken(DAYS, token), REFUSED, token.slice(0, 80));
});

test("rows in an order have tokens of their own, in which all values but the last may be missing", () => {
  const listOf = (...order: readonly (readonly ["label" | "price" | "id", "asc" | "desc"])[]) =>
    listInOrder(
      "rows",
      order.map(([column, direction]) => ({ column, direction })),
      COLUMNS,
    );
  const list = listOf(["label", "asc"], ["price", "desc"], ["id", "asc"]);
  const token = writePageToken(list, [null, 0.5, 3]);
  assert.deepEqual(readPageToken(list, token), [null, 0.5, 3]);
  const others = [
    listOf(["label", "desc"], ["price", "desc"], ["id", "asc"]),
    listOf(["price", "asc"], ["label", "asc"], ["id", "asc"]),
    listOf(["id", "asc"]),
  ];
  for (const other of others) assert.throws(() => readPageToken(other, token), REFUSED, other.name);
  assert.throws(() => readPageToken(list, writePageToken(list, ["a", 1, null])), REFUSED);
  assert.throws(() => readPageToken(list, writePageToken(list, [1, 1, 1])), REFUSED);
});
