import { Compile } from "typebox/compile";
import { AgentMessage, ServerMessage } from "./messages.ts";

export type Decoded<T> = { readonly ok: true; readonly message: T } | { readonly ok: false; readonly problem: string };

const agentMessage = Compile(AgentMessage);
const serverMessage = Compile(ServerMessage);

type Checker<T> = {
  Check(value: unknown): value is T;
  Errors(value: unknown): readonly { instancePath: string; message: string }[];
};

function decode<T>(checker: Checker<T>, text: string): Decoded<T> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    return { ok: false, problem: `not JSON: ${String(cause)}` };
  }
  if (checker.Check(value)) return { ok: true, message: value };
  const first = checker.Errors(value)[0];
  return { ok: false, problem: first ? `${first.instancePath || "/"} ${first.message}` : "unknown message" };
}

/** Reads one message of an agent; a malformed one is a value that says what is wrong, never an exception. */
export function decodeAgentMessage(text: string): Decoded<AgentMessage> {
  return decode(agentMessage, text);
}

/** Reads one message of the server; a malformed one is a value that says what is wrong, never an exception. */
export function decodeServerMessage(text: string): Decoded<ServerMessage> {
  return decode(serverMessage, text);
}
