import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { Type } from "typebox";
import { AgentMessage, ServerMessage } from "../../../protocol/index.ts";
import { camelFields, snakeFields } from "./fields.ts";

type Golden = { readonly agent: readonly AgentMessage[]; readonly server: readonly ServerMessage[] };

const file = path.join(import.meta.dirname, "../../../protocol/golden/v2.json");
const golden = JSON.parse(readFileSync(file, "utf8")) as Golden;

/** Names of fields at any depth. */
function fieldsOf(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(fieldsOf);
  return Object.entries(value).flatMap(([name, inner]) => [name, ...fieldsOf(inner)]);
}

test("every message comes back from the agent's spelling byte for byte", () => {
  for (const message of golden.agent) {
    const respelled = camelFields(AgentMessage, message);
    assert.deepEqual(
      fieldsOf(respelled).filter((name) => name.includes("_")),
      [],
    );
    assert.equal(JSON.stringify(snakeFields(AgentMessage, respelled)), JSON.stringify(message));
  }
  for (const message of golden.server) {
    const respelled = camelFields(ServerMessage, message);
    assert.deepEqual(
      fieldsOf(respelled).filter((name) => name.includes("_")),
      [],
    );
    assert.equal(JSON.stringify(snakeFields(ServerMessage, respelled)), JSON.stringify(message));
  }
});

test("keys of maps, values and fields that the schema does not know stay as they are", () => {
  const schema = Type.Object({ pulled_images: Type.Record(Type.String(), Type.Object({ used_at_ms: Type.Number() })) });
  const value = {
    pulled_images: { "my_image:v1_a": { used_at_ms: 1 }, myImage: { used_at_ms: 2 } },
    of_later: { a_b: 1 },
  };
  const respelled = camelFields(schema, value);
  assert.deepEqual(respelled, {
    pulledImages: { "my_image:v1_a": { usedAtMs: 1 }, myImage: { usedAtMs: 2 } },
    of_later: { a_b: 1 },
  });
  assert.deepEqual(snakeFields(schema, respelled), value);
});
