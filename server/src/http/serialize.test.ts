import assert from "node:assert/strict";
import { test } from "node:test";
import fastJsonStringify from "fast-json-stringify";
import { Type, type TSchema } from "typebox";
import { serializerOf } from "./serialize.ts";

const nullable = (schema: TSchema) => Type.Union([schema, Type.Null()]);
const word = Type.Union([Type.Literal("day"), Type.Literal("month")]);
const place = Type.Object({ city: nullable(Type.String()), required: Type.Optional(nullable(word)) });
const answer = Type.Object({
  count: nullable(Type.Integer()),
  price: nullable(Type.Number()),
  isFree: nullable(Type.Boolean()),
  names: nullable(Type.Array(Type.String())),
  period: word,
  place: nullable(place),
  places: Type.Array(nullable(place)),
  left: Type.Optional(nullable(Type.Number())),
  owner: Type.Union([Type.Literal("me"), place]),
});

const present = {
  count: 3,
  price: 0.25,
  isFree: false,
  names: ["a", '"b"'],
  period: "day",
  place: { city: "Oslo", required: "month" },
  places: [{ city: null }, null],
  left: 1,
  owner: { city: "Rome" },
};
const absent = {
  ...present,
  count: null,
  price: null,
  isFree: null,
  names: null,
  place: null,
  left: null,
  owner: "me",
};
const { left: _left, ...without } = absent;

for (const [name, value] of Object.entries({ present, absent, without })) {
  test(`an answer is written as its schema says, with its nullable parts ${name}`, () => {
    const written = serializerOf(answer)(value);
    assert.deepEqual(JSON.parse(written), value);
    assert.equal(written, fastJsonStringify(answer)(value));
  });
}
