// One message of each kind as version 2 writes it. A later version that no longer reads them breaks agents in the field:
// then the version grows, and these stay beside the new ones.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { AgentMessage, decodeAgentMessage, decodeServerMessage, PROTOCOL_VERSION, ServerMessage } from "./index.ts";

type Messages = { readonly agent: readonly object[]; readonly server: readonly object[] };
/** Messages of each kind, and some with the members that only later agents of the version have. */
type Golden = Messages & { readonly optional: Messages };

const golden = JSON.parse(readFileSync(path.join(import.meta.dirname, "golden/v2.json"), "utf8")) as Golden;

function kindsOf(schema: { readonly anyOf: readonly { readonly properties: { readonly kind: { const: string } } }[] }) {
  return schema.anyOf.map((one) => one.properties.kind.const).toSorted();
}

test("every message that version 2 wrote is read as it was written", () => {
  assert.equal(PROTOCOL_VERSION, 2);
  for (const [messages, decode] of [
    [[...golden.agent, ...golden.optional.agent], decodeAgentMessage],
    [[...golden.server, ...golden.optional.server], decodeServerMessage],
  ] as const) {
    for (const message of messages) assert.deepEqual(decode(JSON.stringify(message)), { ok: true, message });
  }
});

test("every kind of message is among them", () => {
  const kinds = (messages: readonly object[]) =>
    [...new Set(messages.map((message) => ("kind" in message ? String(message.kind) : "")))].toSorted();
  assert.deepEqual(kinds(golden.agent), kindsOf(AgentMessage));
  assert.deepEqual(kinds(golden.server), kindsOf(ServerMessage));
});

test("a message that lacks any of its members is refused with the member's name", () => {
  for (const message of golden.server) {
    for (const name of Object.keys(message)) {
      const { [name]: _, ...rest } = message as Record<string, unknown>;
      assert.equal(decodeServerMessage(JSON.stringify(rest)).ok, false, `${JSON.stringify(message)} without ${name}`);
    }
  }
});
