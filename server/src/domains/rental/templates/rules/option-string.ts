/*
 * The option string of the API (docs/contract-rules.md#option-string), as a grammar of its own: what a renter writes is
 * never handed to Docker. Five flags have a meaning, `-e -p -h -v -n`; the entries they make are the only thing that
 * leaves this file, so no other option, host path or device can reach a host for any text.
 */
import { invalid } from "../../../../base/errors.ts";
import { isRuntimeVariable } from "../../../../base/runtime-variables.ts";

type PortProtocol = "tcp" | "udp";

export type OptionEntry =
  | { readonly kind: "env"; readonly name: string; readonly value: string }
  | {
      readonly kind: "port";
      /** The option as written, such as `8081:8081/udp`: the key of the entry. */
      readonly spec: string;
      /**
       * A container port below 65536; from 70000 on an identity port, for which inside and outside get the same free
       * number.
       */
      readonly container_port: number;
      readonly protocol: PortProtocol;
    }
  | { readonly kind: "hostname"; readonly hostname: string }
  | {
      readonly kind: "volume";
      /** Id or name of one of the renter's volumes, which follows `V.`. */
      readonly volume: string;
      readonly mount_path: string;
    }
  | { readonly kind: "network"; readonly network: string };

const ENTRY_LENGTH_MAX = 256;
const TOTAL_LENGTH_MAX = 32_768;
const PORTS_MAX = 64;
const IDENTITY_PORT_MIN = 70_000;
/** Identity ports of up to six digits. The published contract names no greatest one, and renters write six digits. */
const IDENTITY_PORT_MAX = 999_999;
const PORT_MAX = 65_535;

const FLAGS = ["-e", "-p", "-h", "-v", "-n"] as const;
type Flag = (typeof FLAGS)[number];

/**
 * Reads options in either form of the contract: a string of flags, or an object such as `{"TZ": "UTC", "-p 80:80":
 * "1"}`. A string's malformed or unknown parts are skipped silently, as the contract's own parser does; an object has
 * one key per entry, so a malformed one is `invalid` and named. Broken limits are `invalid` in both forms.
 */
export function parseOptions(input: unknown, field: string): readonly OptionEntry[] {
  if (input === undefined || input === null) return [];
  if (typeof input === "string") return parseOptionString(input, field);
  if (typeof input === "object" && !Array.isArray(input)) return parseOptionObject(input, field);
  throw invalid(field, `${field} must be a string of docker flags such as "-e NAME=value -p 8080:8080", or an object`);
}

/** Reads the string form. A later duplicate replaces the earlier entry, in its place. */
export function parseOptionString(text: string, field: string): readonly OptionEntry[] {
  checkText(text, field);
  const entries = new Map<string, OptionEntry>();
  let flag: Flag | undefined;
  for (const token of splitTokens(text)) {
    if (flag === undefined) {
      // Other docker options and their values are tokens without a flag before them.
      flag = FLAGS.find((known) => known === token);
      continue;
    }
    const entry = readEntry(flag, token);
    if (entry !== undefined) add(entries, entry, field);
    flag = undefined;
  }
  return checkLimits([...entries.values()], field);
}

function parseOptionObject(object: object, field: string): readonly OptionEntry[] {
  const entries = new Map<string, OptionEntry>();
  let length = 0;
  for (const [key, value] of Object.entries(object)) {
    if (value === null || value === undefined) continue;
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
      throw invalid(field, `${field}: the value of ${printable(key)} must be a text`);
    }
    const text = String(value);
    length += key.length + text.length;
    if (length > TOTAL_LENGTH_MAX) throw tooLong(field);
    checkText(key, field);
    checkText(text, field);
    const entry = readMember(key, text);
    if (entry === "ignored") continue;
    if (entry === undefined) throw invalid(field, `${field}: ${printable(key)} is malformed`);
    add(entries, entry, field);
  }
  return checkLimits([...entries.values()], field);
}

/**
 * One member of the object form: `"-h": "name"`, `"-p 80:80": "1"`, `"NAME": "value"`, or a docker option without an
 * effect.
 */
function readMember(key: string, value: string): OptionEntry | "ignored" | undefined {
  const trimmed = key.trim();
  if (!trimmed.startsWith("-")) return readVariable(trimmed, value);
  const [flagText = "", ...rest] = trimmed.split(/\s+/);
  const flag = FLAGS.find((known) => known === flagText);
  if (flag === undefined) return "ignored";
  return readEntry(flag, rest.length === 0 ? value : rest.join(" "));
}

function add(entries: Map<string, OptionEntry>, entry: OptionEntry, field: string): void {
  if (entry.kind === "env") {
    if (isRuntimeVariable(entry.name)) return;
    if (entry.name.length > ENTRY_LENGTH_MAX || entry.value.length > ENTRY_LENGTH_MAX) throw entryTooLong(entry, field);
  } else if (keyOf(entry).length > ENTRY_LENGTH_MAX) {
    throw entryTooLong(entry, field);
  }
  entries.set(keyOf(entry), entry);
}

/** The key by which a later entry replaces an earlier one: the variable's name, or the whole flag. */
function keyOf(entry: OptionEntry): string {
  const [key] = pairOf(entry);
  return key;
}

/** Splits at blanks outside quotes. Quotes do not nest and nothing escapes them; an open quote runs to the end. */
function splitTokens(text: string): readonly string[] {
  const tokens: string[] = [];
  let start = -1;
  let quote = "";
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (quote === "" && BLANK.test(character)) {
      if (start >= 0) tokens.push(text.slice(start, index));
      start = -1;
      continue;
    }
    if (start < 0) start = index;
    if (quote === "" && (character === '"' || character === "'")) quote = character;
    else if (character === quote) quote = "";
  }
  if (start >= 0) tokens.push(text.slice(start));
  return tokens;
}

const BLANK = /[ \t\r\n]/;

function readEntry(flag: Flag, token: string): OptionEntry | undefined {
  if (flag === "-e") {
    // `-e NAME="a b"` and `-e "NAME=a b"` mean the same.
    const assignment = /^["']/.test(token) ? stripQuotes(token) : token;
    const split = assignment.indexOf("=");
    if (split < 0) return undefined;
    return readVariable(assignment.slice(0, split), stripQuotes(assignment.slice(split + 1)));
  }
  const value = stripQuotes(token);
  if (flag === "-p") return readPort(value);
  if (flag === "-h") return HOSTNAME.test(value) ? { kind: "hostname", hostname: value } : undefined;
  if (flag === "-v") return readVolume(value);
  return NETWORK.test(value) ? { kind: "network", network: value } : undefined;
}

const HOSTNAME = /^(?=.{1,63}$)[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?$/;
const NETWORK = /^[a-z0-9-]+$/;
const VARIABLE_NAME = /^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/;
const PORT = /^(?:(\d{1,6}):)?(\d{1,6})(?:\/(tcp|udp))?$/;
const VOLUME = /^V\.([A-Za-z0-9_.][A-Za-z0-9_.-]*):(\/[A-Za-z0-9:._/]+)$/;

function readVariable(name: string, value: string): OptionEntry | undefined {
  return VARIABLE_NAME.test(name) ? { kind: "env", name, value } : undefined;
}

function readPort(spec: string): OptionEntry | undefined {
  const match = PORT.exec(spec);
  if (match === null) return undefined;
  const [, host, container = "", protocol = "tcp"] = match;
  const containerPort = Number(container);
  const isOrdinary = containerPort >= 1 && containerPort <= PORT_MAX;
  const isIdentity = containerPort >= IDENTITY_PORT_MIN && containerPort <= IDENTITY_PORT_MAX;
  // The host's part is only a preference, but an impossible number there is a typing mistake.
  const isHostPlausible = host === undefined || Number(host) >= 1;
  if (!(isOrdinary || isIdentity) || !isHostPlausible) return undefined;
  return { kind: "port", spec, container_port: containerPort, protocol: protocol === "udp" ? "udp" : "tcp" };
}

/** Reads a volume of the renter. A path of the host does not begin with `V.`, so it is not accepted as a volume. */
function readVolume(value: string): OptionEntry | undefined {
  const [, volume, mountPath] = VOLUME.exec(value) ?? [];
  if (volume === undefined || mountPath === undefined || !isMountPath(mountPath)) return undefined;
  return { kind: "volume", volume, mount_path: mountPath };
}

const SYSTEM_DIRECTORIES: ReadonlySet<string> = new Set(["proc", "sys", "dev"]);

/** An absolute path below the root, without `.` and `..`, outside the kernel's own directories. */
export function isMountPath(path: string): boolean {
  const [first, ...parts] = path.replace(/\/$/, "").split("/");
  if (first !== "" || parts.length === 0 || path.includes(":") || path.includes("\0")) return false;
  if (parts.some((part) => part === "" || part === "." || part === "..")) return false;
  return !SYSTEM_DIRECTORIES.has(parts[0] ?? "");
}

/** Drops a pair of quotes around the text, or an opening one that nothing closes. */
function stripQuotes(text: string): string {
  const first = text.charAt(0);
  if (first !== '"' && first !== "'") return text;
  const next = text.indexOf(first, 1);
  if (next < 0) return text.slice(1);
  return text.endsWith(first) ? text.slice(1, -1) : text;
}

/**
 * The entries an instance starts with: the template's in their order, then the request's; for an entry that both name,
 * the request's value stands at the template's place. Limits hold for the result.
 */
export function mergeOptions(
  templateEntries: readonly OptionEntry[],
  requestEntries: readonly OptionEntry[],
  field: string,
): readonly OptionEntry[] {
  const merged = new Map<string, OptionEntry>();
  for (const entry of [...templateEntries, ...requestEntries]) merged.set(keyOf(entry), entry);
  return checkLimits([...merged.values()], field);
}

function pairOf(entry: OptionEntry): readonly [string, string] {
  switch (entry.kind) {
    case "env":
      return [entry.name, entry.value];
    case "port":
      return [`-p ${entry.spec}`, "1"];
    case "hostname":
      return ["-h", entry.hostname];
    case "volume":
      return [`-v V.${entry.volume}:${entry.mount_path}`, "1"];
    case "network":
      return [`-n ${entry.network}`, "1"];
  }
}

/** The form that instance records show as `extra_env`: `[["TZ", "UTC"], ["-p 8081:8081", "1"]]`. */
export function toExtraEnv(entries: readonly OptionEntry[]): readonly (readonly [string, string])[] {
  return entries.map(pairOf);
}

/**
 * The string form, which reads back to the same entries. Undefined when a value holds blanks and both kinds of quotes
 * in a way that the grammar, which has no escapes, cannot write; only the object form can bring such a value.
 */
export function renderOptionString(entries: readonly OptionEntry[]): string | undefined {
  const parts: string[] = [];
  for (const entry of entries) {
    const written = renderEntry(entry);
    if (written === undefined) return undefined;
    parts.push(written);
  }
  return parts.join(" ");
}

function renderEntry(entry: OptionEntry): string | undefined {
  if (entry.kind === "hostname") return `-h ${entry.hostname}`;
  if (entry.kind !== "env") return keyOf(entry);
  const { name, value } = entry;
  const quotes = value.includes('"') ? ["", "'", '"'] : ["", '"', "'"];
  return quotes
    .map((quote) => `${name}=${quote}${value}${quote}`)
    .filter((token) => {
      const [only, ...others] = splitTokens(`${token} -`);
      const read = only === token && others.length === 1 ? readEntry("-e", token) : undefined;
      return read?.kind === "env" && read.name === name && read.value === value;
    })
    .map((token) => `-e ${token}`)
    .at(0);
}

function checkText(text: string, field: string): void {
  if (text.length > TOTAL_LENGTH_MAX) throw tooLong(field);
  if (text.includes("\0")) throw invalid(field, `${field} contains a NUL character`);
  if (!text.isWellFormed()) throw invalid(field, `${field} is not valid Unicode text`);
}

function checkLimits(entries: readonly OptionEntry[], field: string): readonly OptionEntry[] {
  const ports = entries.filter((entry) => entry.kind === "port");
  const extra = ports[PORTS_MAX];
  if (extra !== undefined) throw invalid(field, `${field}: -p ${extra.spec} is one port more than ${PORTS_MAX}`);
  const length = entries.reduce((sum, entry) => sum + pairOf(entry)[0].length + pairOf(entry)[1].length, 0);
  if (length > TOTAL_LENGTH_MAX) throw tooLong(field);
  return entries;
}

function tooLong(field: string) {
  return invalid(field, `${field} is longer than ${TOTAL_LENGTH_MAX} characters in total`);
}

function entryTooLong(entry: OptionEntry, field: string) {
  const name = printable(keyOf(entry));
  return invalid(field, `${field}: the name and the value of ${name} may have ${ENTRY_LENGTH_MAX} characters each`);
}

function printable(key: string): string {
  const short = key.length > 64 ? `${key.slice(0, 64)}…` : key;
  return JSON.stringify(short.replace(/\p{C}/gu, "\u{FFFD}"));
}
