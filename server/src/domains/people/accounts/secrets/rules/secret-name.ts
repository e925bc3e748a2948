import { AppError, invalid } from "../../../../../base/errors.ts";
import { isRuntimeVariable } from "../../../../../base/runtime-variables.ts";

/** A variable that a user sets for all own containers. */
export type Secret = { readonly name: string; readonly value: string };

const NAME_LENGTH_MAX = 255;
const VALUE_LENGTH_MAX = 4096;
const NAME = /^[A-Z_][A-Z0-9_]*$/;
const VALUE = /^[A-Za-z0-9_.-]+$/;

/**
 * Variables that the platform or the host sets in a container: a secret of this name would never arrive, or would be
 * wrong.
 */
const RESERVED: ReadonlySet<string> = new Set([
  "CONTAINER_ID",
  "CONTAINER_API_KEY",
  "CONTAINER_LABEL",
  "VAST_CONTAINERLABEL",
  "PUBLIC_IPADDR",
  "GPU_COUNT",
  "SSH_PUBLIC_KEY",
  "DIRECT_PORT_START",
  "DIRECT_PORT_END",
]);
const RESERVED_PREFIXES = ["VAST_TCP_PORT_", "VAST_UDP_PORT_"];

/** The name in upper case, as it is stored. Throws `missing_input`, or names the fault. */
export function parseSecretName(key: string | undefined): string {
  if (key === undefined) throw new AppError("invalid", "missing_input", "key is required: the name of a variable");
  const name = key.trim().toUpperCase();
  if (name === "") throw invalid("key", "key may not be empty", "empty_input");
  if (name.length > NAME_LENGTH_MAX) {
    throw invalid("key", `key has more than ${NAME_LENGTH_MAX} characters`, "input_too_long");
  }
  if (!NAME.test(name)) {
    const message = "key must be a name of letters, digits and _ that does not begin with a digit";
    throw invalid("key", message, "invalid_characters");
  }
  return name;
}

/** A valid name and value. Throws `reserved_key` for names that the platform sets. */
export function parseSecret(body: { readonly key?: string; readonly value?: string }): Secret {
  const name = parseSecretName(body.key);
  const { value } = body;
  if (value === undefined) throw invalid("value", "value is required", "missing_input");
  if (isReserved(name)) {
    throw invalid("key", `${name} is set by the platform; choose another name`, "reserved_key");
  }
  if (value === "") throw invalid("value", "value may not be empty", "empty_input");
  if (value.length > VALUE_LENGTH_MAX) {
    throw invalid("value", `value has more than ${VALUE_LENGTH_MAX} characters`, "input_too_long");
  }
  // The value stays out of the answer: it is a secret even when it is wrong.
  if (!VALUE.test(value)) {
    throw invalid("value", "value may have only letters, digits and _ . -", "invalid_characters");
  }
  return { name, value };
}

function isReserved(name: string): boolean {
  const isOfPlatform = RESERVED.has(name) || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix));
  return isOfPlatform || isRuntimeVariable(name);
}
