import { invalid } from "../../../../base/errors.ts";
import { parseImageReference, registryOf, type RegistryAuth } from "../../templates/index.ts";

export type SnapshotRequest = {
  readonly container_registry?: string | undefined;
  readonly personal_repo?: string | undefined;
  readonly docker_login_user?: string | undefined;
  readonly docker_login_pass?: string | undefined;
};

export type SnapshotImage = {
  /** The repository as an engine pushes it: with its registry, except for Docker Hub's. */
  readonly repository: string;
  readonly tag: string;
  readonly registry_auth: RegistryAuth | null;
};

const DEFAULT_REGISTRY = "docker.io";
const LOGIN_LENGTH_MAX = 4096;

/**
 * The destination of a snapshot. `personal_repo` may name its registry and a tag; without a tag it gets one of its own,
 * so that no existing image is overwritten by accident.
 */
export function readSnapshotImage(request: SnapshotRequest, ownTag: string): SnapshotImage {
  const repo = request.personal_repo?.trim() ?? "";
  if (repo === "") throw invalid("personal_repo", "personal_repo is required: the repository to push to");
  const named = parseImageReference(repo, "personal_repo");
  if (named.digest !== undefined) throw invalid("personal_repo", "personal_repo must be a repository, not a digest");
  const given = request.container_registry?.trim().replace(/\/+$/, "") || undefined;
  const registry = named.registry ?? given ?? DEFAULT_REGISTRY;
  const reference = parseImageReference(`${registry}/${named.repository}`, "container_registry");
  // The registry may come with a path, such as registry.example.com/team; a bare word is not a registry.
  if (reference.registry === undefined) {
    throw invalid("container_registry", "container_registry must be a host such as docker.io or ghcr.io");
  }
  const address = registryOf(reference);
  if (given !== undefined && named.registry !== undefined) {
    const other = parseImageReference(`${given}/${named.repository}`, "container_registry");
    const isSame = other.registry !== undefined && registryOf(other) === address;
    if (!isSame) throw invalid("container_registry", "container_registry and personal_repo name different registries");
  }
  const { repository } = reference;
  return {
    repository: address === DEFAULT_REGISTRY ? repository : `${reference.registry}/${repository}`,
    tag: named.tag ?? ownTag,
    registry_auth: readAuth(request, address),
  };
}

/** The field that names the registry of a snapshot. */
export function registryFieldOf({ personal_repo: repo = "" }: SnapshotRequest): keyof SnapshotRequest {
  const isInName = parseImageReference(repo.trim(), "personal_repo").registry !== undefined;
  return isInName ? "personal_repo" : "container_registry";
}

/** Reads the login: both fields or neither, since a private registry may need none. */
function readAuth(request: SnapshotRequest, serveraddress: string): RegistryAuth | null {
  const { docker_login_user: username = "", docker_login_pass: password = "" } = request;
  if (username === "" && password === "") return null;
  if (username === "") throw invalid("docker_login_user", "docker_login_user is required with docker_login_pass");
  if (password === "") throw invalid("docker_login_pass", "docker_login_pass is required with docker_login_user");
  if (username.length > LOGIN_LENGTH_MAX) throw invalid("docker_login_user", "docker_login_user is too long");
  if (password.length > LOGIN_LENGTH_MAX) throw invalid("docker_login_pass", "docker_login_pass is too long");
  return { username, password, serveraddress };
}
