import { invalid } from "../../../../base/errors.ts";
import { splitShellWords } from "./shell-words.ts";

export const IMAGE_LENGTH_MAX = 1024;
/** Stands for the newest tag that the machine's driver can run; it stays in the settings until the machine is known. */
const AUTOMATIC_TAG = "@vastai-automatic-tag";
export const DEFAULT_TAG = "latest";
const DOCKER_HUB = "docker.io";

export type ImageReference = {
  /** The host of the registry; undefined means Docker Hub. */
  readonly registry: string | undefined;
  readonly repository: string;
  /** The tag; undefined when the text has none. */
  readonly tag: string | undefined;
  readonly digest: string | undefined;
};

/** The credentials that the host presents to a registry for one pull, in Docker Engine's shape. */
export type RegistryAuth = { readonly username: string; readonly password: string; readonly serveraddress: string };

const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?";
const REGISTRY = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*|\\[[0-9a-fA-F:]+\\])(?::\\d{1,5})?$`);
const PATH_PART = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Reads `[registry/]repository[:tag][@digest]`. Any other text is `invalid`, and the message names the wrong part. */
export function parseImageReference(text: string, field: string): ImageReference {
  if (text.length > IMAGE_LENGTH_MAX) throw invalid(field, `${field} is longer than ${IMAGE_LENGTH_MAX} characters`);
  if (/[\s\p{C}]/u.test(text)) throw invalid(field, `${field} contains blanks or control characters`);
  if (text === "") throw invalid(field, `${field} is empty`);
  if (text.includes("://"))
    throw invalid(field, `${field} is an image such as registry.example.com/name:tag, not a URL`);
  const { name, tag, digest } = splitSuffixes(text, field);
  const [first = "", ...rest] = name.split("/");
  const isRegistry = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  if (isRegistry && !REGISTRY.test(first)) throw invalid(field, `${field} does not name a valid registry`);
  const parts = isRegistry ? rest : [first, ...rest];
  if (!parts.every((part) => PATH_PART.test(part))) {
    throw invalid(field, `${field} is not a valid image name: its parts are lower-case letters, digits and . _ -`);
  }
  return { registry: isRegistry ? first : undefined, repository: parts.join("/"), tag, digest };
}

function splitSuffixes(text: string, field: string) {
  if (text.endsWith(AUTOMATIC_TAG)) {
    const name = text.slice(0, -AUTOMATIC_TAG.length).replace(/:$/, "");
    return { name, tag: AUTOMATIC_TAG, digest: undefined };
  }
  const at = text.indexOf("@");
  const digest = at < 0 ? undefined : text.slice(at + 1);
  if (digest !== undefined && !DIGEST.test(digest)) throw invalid(field, `${field} has a malformed digest`);
  const tagged = at < 0 ? text : text.slice(0, at);
  const colon = tagged.indexOf(":", tagged.lastIndexOf("/") + 1);
  const tag = colon < 0 ? undefined : tagged.slice(colon + 1);
  if (tag !== undefined) checkTag(tag, field);
  return { name: colon < 0 ? tagged : tagged.slice(0, colon), tag, digest };
}

/** Refuses a text that is not an image tag. The automatic tag is accepted. */
export function checkTag(tag: string, field: string): void {
  if (tag !== AUTOMATIC_TAG && !TAG.test(tag)) {
    throw invalid(field, `${field}: a tag has 1 to 128 letters, digits and _ . - and does not begin with . or -`);
  }
}

/** The image as an engine pulls it. Without tag and digest it gets `defaultTag`. */
export function renderImageReference(reference: ImageReference, defaultTag = DEFAULT_TAG): string {
  const { registry, repository, digest } = reference;
  const name = registry === undefined ? repository : `${registry}/${repository}`;
  const tag = reference.tag ?? (digest === undefined ? defaultTag : undefined);
  return `${name}${tag === undefined ? "" : `:${tag}`}${digest === undefined ? "" : `@${digest}`}`;
}

/** The registry of an image in comparable form: one name for all of Docker Hub's names. */
export function registryOf(reference: ImageReference): string {
  return canonicalRegistry(reference.registry ?? DOCKER_HUB);
}

const DOCKER_HUB_NAMES: ReadonlySet<string> = new Set([
  DOCKER_HUB,
  "index.docker.io",
  "registry-1.docker.io",
  "registry.hub.docker.com",
  "hub.docker.com",
]);

/**
 * Reads a registry as people write it: a host, with or without scheme and path. A bare word is a repository of Docker
 * Hub.
 */
function canonicalRegistry(text: string): string {
  const [host = ""] = text
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, "")
    .split("/");
  const isHost = /[.:]/.test(host) || host === "localhost";
  return !isHost || DOCKER_HUB_NAMES.has(host) ? DOCKER_HUB : host;
}

export type ImageLogin = {
  readonly username: string;
  readonly password: string;
  /** The registry of the login; undefined when the text names none: the login is then for the registry of the image. */
  readonly registry: string | undefined;
};

const LOGIN_LENGTH_MAX = 4096;

/** Reads `-u USER -p PASSWORD [REGISTRY]`. Error messages repeat no part of it. */
export function parseImageLogin(text: string, field: string): ImageLogin {
  if (text.length > LOGIN_LENGTH_MAX) throw invalid(field, `${field} is longer than ${LOGIN_LENGTH_MAX} characters`);
  if (/[^\P{Cc}\t\n]/u.test(text)) throw invalid(field, `${field} contains control characters`);
  const words = splitShellWords(text, field).flatMap((word) => splitLongOption(word));
  const given: { username?: string; password?: string; registry?: string } = {};
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? "";
    if (word === "-u" || word === "--username") given.username = words[(index += 1)] ?? "";
    else if (word === "-p" || word === "--password") given.password = words[(index += 1)] ?? "";
    else if (word.startsWith("-") || given.registry !== undefined) throw malformedLogin(field);
    else given.registry = word;
  }
  if (!given.username || !given.password) throw malformedLogin(field);
  return { username: given.username, password: given.password, registry: given.registry };
}

function splitLongOption(word: string): readonly string[] {
  const match = /^(--username|--password)=(.*)$/s.exec(word);
  return match === null ? [word] : match.slice(1);
}

function malformedLogin(field: string) {
  return invalid(field, `${field} must read: -u USER -p PASSWORD [REGISTRY]`);
}

/**
 * The credentials for pulling this image, or null when they are for another registry. An engine sends the credentials
 * to the registry that the image names, so a mismatch would hand a password to a stranger.
 */
export function authFor(reference: ImageReference, login: ImageLogin): RegistryAuth | null {
  const serveraddress = registryOf(reference);
  if (login.registry !== undefined && canonicalRegistry(login.registry) !== serveraddress) return null;
  return { username: login.username, password: login.password, serveraddress };
}
