import { invalid } from "../../../../base/errors.ts";
import { checkText } from "../rules/fields.ts";
import { parseImageReference, registryOf } from "../rules/image-reference.ts";
import type { Asked, RegistryCheck, RegistryClient, RegistryLogin } from "./client.ts";

const DOCKER_HUB = "docker.io";
/** The address at which Docker Hub answers the registry API. */
const DOCKER_HUB_HOST = "registry-1.docker.io";

export type Credentials = { readonly username?: string; readonly token?: string };
export type ImageAsked = Credentials & { readonly image?: string; readonly server?: string };

/** The tags of an image, or the reason why there are none. */
export async function findTags(
  client: RegistryClient,
  { image: text, server, ...credentials }: ImageAsked,
): Promise<{ readonly tags: readonly string[]; readonly reason: string | undefined }> {
  if (text === undefined || text === "") throw invalid("image", "image is required");
  const image = parseImageReference(text, "image");
  const named = server === undefined || server === "" ? undefined : readServer(server);
  const registry = image.registry === undefined && named !== undefined ? named : registryOf(image);
  if (named !== undefined && named !== registry) {
    throw invalid("server", `server: the image is at ${registry}, and not at ${named}`);
  }
  const login = readLogin(credentials);
  const isOfficial = registry === DOCKER_HUB && !image.repository.includes("/");
  const repository = isOfficial ? `library/${image.repository}` : image.repository;
  const field = named === undefined ? "image" : "server";
  const answer = await client.listTags(hostOf(registry), repository, login);
  if (answer.kind === "missing") return { tags: [], reason: `${registry} has no image ${image.repository}.` };
  const code = "registry_error";
  const tags = valueOf(answer, { registry, field, code, denied: login === undefined ? "username" : "token" });
  return { tags, reason: tags.length === 0 ? `${registry} has no tags of ${image.repository}.` : undefined };
}

/** Checks a login at a registry; a login that the registry refuses is `auth_failed`. */
export async function checkLogin(
  client: RegistryClient,
  { server, ...credentials }: Credentials & { readonly server?: string },
): Promise<RegistryCheck> {
  const registry = server === undefined || server === "" ? DOCKER_HUB : readServer(server);
  const login = readLogin(credentials);
  if (login === undefined) throw invalid("username", "username and token are required");
  const answer = await client.check(hostOf(registry), login);
  const code = "auth_failed";
  if (answer.kind === "missing") throw unanswered(registry, "server", "does not answer as a registry does", code);
  return valueOf(answer, { registry, field: "server", code, denied: "token" });
}

type Blame = {
  readonly registry: string;
  /** The field that names the registry. */
  readonly field: string;
  readonly code: string;
  /** The field of the login that is refused or missing. */
  readonly denied: string;
};

function valueOf<Value>(
  answer: Exclude<Asked<Value>, { readonly kind: "missing" }>,
  { registry, field, code, denied }: Blame,
): Value {
  if (answer.kind === "found") return answer.value;
  if (answer.kind === "failed") throw unanswered(registry, field, answer.text, code);
  if (answer.kind === "denied") {
    const message = denied === "username" ? "asks for username and token" : "refuses this username and token";
    throw invalid(denied, `${denied}: the registry ${registry} ${message}`, code);
  }
  const message = `${field}: the registry ${registry} is in a private network, where this server asks none.`;
  throw invalid(field, message, "private_registry");
}

function unanswered(registry: string, field: string, text: string, code: string) {
  return invalid(field, `${field}: the registry ${registry} ${text}`, code);
}

/** A registry as people write it, such as `https://ghcr.io/`, as `host[:port]`. */
function readServer(text: string): string {
  const host = text
    .trim()
    .replace(/^https?:\/\//i, "")
    .replace(/\/(?:v[12]\/?)?$/, "");
  // A bare word would be a repository of Docker Hub, and no registry.
  if (!/[.:]/.test(host) && host !== "localhost") throw invalid("server", "server must be the host of a registry");
  return registryOf(parseImageReference(`${host}/image`, "server"));
}

function readLogin({ username = "", token = "" }: Credentials): RegistryLogin | undefined {
  if (username === "" && token === "") return undefined;
  if (username === "") throw invalid("username", "username is required with token");
  if (token === "") throw invalid("token", "token is required with username");
  checkText(username, "username", 256);
  // The header in which both go has a colon between them.
  if (username.includes(":")) throw invalid("username", "username must not have a colon");
  return { username, token: checkText(token, "token", 4096) };
}

function hostOf(registry: string): string {
  return registry === DOCKER_HUB ? DOCKER_HUB_HOST : registry;
}
