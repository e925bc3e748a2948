import { InvalidArgumentError } from "commander";

/** Readers of arguments and options. Their errors are shown after the option's name; the exit code is 2. */

export function parseId(text: string): number {
  return parseInteger(text, 1, 2_147_483_647);
}

export function parsePort(text: string): number {
  return parseInteger(text, 0, 65_535);
}

export function parseCount(text: string): number {
  return parseInteger(text, 1, 100_000);
}

/** Hours of validity, 30 days at most. */
export function parseHours(text: string): number {
  return parseInteger(text, 1, 720);
}

/** Hours of past traffic, which is kept for seven days. */
export function parsePastHours(text: string): number {
  return parseInteger(text, 1, 168);
}

export function parseLineCount(text: string): number {
  return parseInteger(text, 0, 100_000);
}

const BACKUP = /^vast\.[1-9]\d{0,9}$/;

/**
 * A path in an instance, a volume or a backup, by the id that the server reads, or on this computer, which is `local`.
 */
export type Place = { readonly id: string; readonly path: string };

export function parsePlaceId(text: string): string {
  const [, kind = "C", id = ""] = /^(?:([CV])\.)?([1-9]\d{0,9})$/.exec(text) ?? [];
  if (id === "") throw new InvalidArgumentError("It must be an instance such as 12, or a volume such as V.7.");
  return `${kind}.${id}`;
}

export function parsePlace(text: string): Place {
  const colon = text.indexOf(":");
  const path = text.slice(colon + 1);
  if (colon < 0 || path === "")
    throw new InvalidArgumentError("It must be ID:PATH, such as 12:/data or V.7:/, or local:PATH.");
  const id = text.slice(0, colon);
  return { id: id === "local" || BACKUP.test(id) ? id : parsePlaceId(id), path };
}

/** Reads a path in a cloud storage, such as `3:bucket/out`. */
export function parseCloudPlace(text: string): { readonly id: number; readonly path: string } {
  const [, id = "", path = ""] = /^([1-9]\d{0,9}):(.+)$/.exec(text) ?? [];
  if (id === "") throw new InvalidArgumentError("It must be CONNECTION:PATH, such as 3:bucket/out.");
  return { id: Number(id), path };
}

/** Dollars or gigabytes: a plain decimal above zero. */
export function parseAmount(text: string): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (!(value > 0 && value < 1e9)) throw new InvalidArgumentError("It must be a number above 0, such as 12.50.");
  return value;
}

/** A plain decimal from zero on; the server checks its range. */
export function parseNumber(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError("It must be a number, such as 0.9.");
  return Number(text);
}

/** A plain decimal with or without a minus sign. */
export function parseSigned(text: string): number {
  return text.startsWith("-") ? -parseNumber(text.slice(1)) : parseNumber(text);
}

/** A time in seconds since 1970: given as a number, or as a date in UTC unless it names a zone. */
export function parseTime(text: string): number {
  if (/^\d{9,11}$/.test(text)) return Number(text);
  const [, day = "", time = "00:00", zone = "Z"] = TIME.exec(text) ?? [];
  const ms = isDay(day) ? Date.parse(`${day}T${time}${zone}`) : Number.NaN;
  if (Number.isNaN(ms)) throw new InvalidArgumentError("It must be a time such as 2026-01-31 or 2026-01-31T12:30.");
  return ms / 1000;
}

const TIME = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?))?(Z|[+-]\d{2}:\d{2})?$/;

/** True for a day of the calendar: `Date.parse` takes the 31st of February for the 3rd of March. */
function isDay(day: string): boolean {
  const ms = Date.parse(day);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}

export function parseEmail(text: string): string {
  if (!/^[^\s@]+@[^\s@]+$/.test(text)) throw new InvalidArgumentError("It must be an e-mail address.");
  return text;
}

export function parseJsonObject(text: string): object {
  const value = readJson(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new InvalidArgumentError('It must be a JSON object, such as {"api":{"user_read":{}}}.');
}

/** A list of GPUs such as `RTX 4090:2,H100:1`, in the form that the server reads. */
export function parseGpus(text: string): string {
  const entries = text.split(",").map((entry) => entry.trim());
  if (entries.every((entry) => /^[^:,]*[^:,\s][^:,]*:[1-9]\d?$/.test(entry))) return entries.join(",");
  throw new InvalidArgumentError("It must be NAME:COUNT, several by commas, such as 'RTX 4090:2'.");
}

function parseInteger(text: string, min: number, max: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : -1;
  if (value < min || value > max) throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  return value;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError("It is not valid JSON.");
  }
}

/** A country as two letters of ISO 3166, in capitals; an empty text removes the country. */
export function parseCountry(text: string): string {
  const code = text.trim().toUpperCase();
  if (!/^([A-Z]{2})?$/.test(code)) throw new InvalidArgumentError("It must be two letters of ISO 3166, such as DE.");
  return code;
}
