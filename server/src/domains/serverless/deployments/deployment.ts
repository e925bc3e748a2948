import { invalid, type AppError } from "../../../base/errors.ts";
import type {
  ApiKeyId,
  DeploymentId,
  DeploymentVersionId,
  EndpointGroupId,
  UserId,
  WorkerGroupId,
} from "../../../base/ids.ts";
import { POSITIVE, readCount, readNumber, type ParameterRequest } from "../endpoints/rules/parameters.ts";

/** Credentials for a private registry. */
export type Login = { readonly user: string; readonly password: string; readonly registry: string };

/** The container in which the code of a version runs. */
export type Container = {
  readonly image: string;
  /** Options of a container as a text, such as `-e A=b -p 8000:8000`. */
  readonly env: string;
  readonly storageGb: number;
  readonly login: Login | undefined;
};

export type Code = {
  /** SHA-256 in hexadecimal digits. */
  readonly fileHash: string;
  readonly sizeBytes: number;
};

export type Deployment = {
  readonly id: DeploymentId;
  readonly userId: UserId;
  readonly apiKeyId: ApiKeyId;
  readonly name: string;
  readonly tag: string;
  /** The endpoint and its worker group can be deleted separately, so either may be gone. */
  readonly endpointId: EndpointGroupId | undefined;
  readonly workerGroupId: WorkerGroupId | undefined;
  readonly searchParams: string;
  /** Seconds without a heartbeat after which it is deleted; undefined: never. */
  readonly ttlS: number | undefined;
  readonly heartbeatAt: Date;
  /** The last requested version, the version that workers run, and the last one that a worker was ready with. */
  readonly wantedVersionId: DeploymentVersionId | undefined;
  readonly currentVersionId: DeploymentVersionId | undefined;
  readonly healthyVersionId: DeploymentVersionId | undefined;
};

/** A deployment as a request states it, before validation. */
export type DeploymentRequest = ParameterRequest & {
  readonly name: string;
  readonly image: string;
  readonly file_hash: string;
  readonly file_size: number;
  readonly env?: string;
  readonly tag?: string;
  readonly search_params?: string;
  readonly storage?: number;
  readonly ttl?: number;
  readonly version_label?: string;
  readonly docker_login_user?: string;
  readonly docker_login_pass?: string;
  readonly docker_login_repo?: string;
};

/** The complete content of a request: absent fields have their defaults. */
export type Asked = {
  readonly name: string;
  readonly tag: string;
  readonly code: Code;
  readonly container: Container;
  readonly searchParams: string;
  readonly ttlS: number | undefined;
  readonly label: string;
  /** Parameters of the endpoint as sent: absent ones keep their values. */
  readonly scaling: ParameterRequest;
};

export type DeployAction = "created" | "soft_update" | "autoscale_update" | "exists";

export const DEFAULT_TAG = "default";
export const DEFAULT_STORAGE_GB = 50;
/** The largest file: it is kept in the database in pieces. Models are no part of it; the code fetches them. */
export const FILE_BYTES_MAX = 256 * 1024 * 1024;
/** The most code of a user in all, each file counted once. */
export const CODE_BYTES_MAX = 4 * 1024 ** 3;

const NAME_LENGTH_MAX = 200;
const TAG_LENGTH_MAX = 50;
const LABEL_LENGTH_MAX = 255;
/** The options become part of a command line, whose length is limited. */
const ENV_LENGTH_MAX = 24_000;
const STORAGE_GB_MIN = 8;

/** Reads a request; throws `invalid` naming a wrong field. */
export function readDeployment(request: DeploymentRequest): Asked {
  const storageGb = readNumber("storage", request.storage, POSITIVE) ?? DEFAULT_STORAGE_GB;
  if (storageGb < STORAGE_GB_MIN) throw invalid("storage", `storage must be at least ${STORAGE_GB_MIN} GB`);
  const { env = "" } = request;
  if (env.length > ENV_LENGTH_MAX) throw invalid("env", `env must have at most ${ENV_LENGTH_MAX} characters`);
  const fileHash = request.file_hash.toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(fileHash)) {
    throw invalid("file_hash", "file_hash must be a SHA-256 in 64 hexadecimal digits");
  }
  const sizeBytes = readCount("file_size", request.file_size, 1) ?? 0;
  if (sizeBytes > FILE_BYTES_MAX) throw invalid("file_size", `file_size must be at most ${FILE_BYTES_MAX} bytes`);
  const name = readLine("name", request.name, NAME_LENGTH_MAX);
  const tag = readLine("tag", request.tag ?? DEFAULT_TAG, TAG_LENGTH_MAX);
  const label = request.version_label ?? "";
  return {
    name,
    tag,
    code: { fileHash, sizeBytes },
    container: { image: request.image, env, storageGb, login: readLogin(request) },
    searchParams: request.search_params ?? "",
    ttlS: readNumber("ttl", request.ttl, POSITIVE),
    label: label === "" ? "" : readLine("version_label", label, LABEL_LENGTH_MAX),
    scaling: request,
  };
}

/** The default name of the deployment's endpoint; each tag has an endpoint of its own. */
export function endpointNameOf({ name, tag }: Pick<Asked, "name" | "tag">): string {
  return tag === DEFAULT_TAG ? name : `${name}-${tag}`;
}

export function noRoomForCode(): AppError {
  return invalid("file_size", "file_size: the code of your deployments may have 4 GB in all; delete some first");
}

/**
 * The `action` that answers a request. The published values have none for another container: it is answered like new
 * code, and its workers are recreated one after the other.
 */
export function actionOf(changes: {
  readonly isNew: boolean;
  readonly isOtherVersion: boolean;
  readonly isOtherOtherwise: boolean;
}): DeployAction {
  if (changes.isNew) return "created";
  if (changes.isOtherVersion) return "soft_update";
  return changes.isOtherOtherwise ? "autoscale_update" : "exists";
}

/**
 * True if a worker of one version can serve as one of the other. Only the hash decides if the code is the same:
 * clients compute it from the packed files, and packing them again may give other bytes and another size.
 */
export function isSameVersion(
  one: Pick<Code, "fileHash"> & Omit<Container, "env"> & { readonly env: string | undefined },
  code: Pick<Code, "fileHash">,
  container: Container,
): boolean {
  return (
    one.fileHash === code.fileHash &&
    one.image === container.image &&
    one.env === container.env &&
    one.storageGb === container.storageGb &&
    JSON.stringify(one.login) === JSON.stringify(container.login)
  );
}

/** The command-line options for its workers: the image's own entry point runs, and finds the code. */
export function launchArgsOf({ image, env, storageGb }: Container): string {
  const options = ["--image", quote(image), "--disk", String(storageGb)];
  return [...options, ...(env.trim() === "" ? [] : ["--env", quote(env)]), "--args"].join(" ");
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function readLogin(request: DeploymentRequest): Login | undefined {
  const { docker_login_user: user = "", docker_login_pass: password = "" } = request;
  if (user === "" && password === "") return undefined;
  if (user === "") throw invalid("docker_login_user", "docker_login_user is missing beside docker_login_pass");
  if (password === "") throw invalid("docker_login_pass", "docker_login_pass is missing beside docker_login_user");
  return { user, password, registry: request.docker_login_repo ?? "" };
}

function readLine(field: string, text: string, lengthMax: number): string {
  if (text.trim() === "" || text.length > lengthMax || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) {
    throw invalid(field, `${field} must have 1 to ${lengthMax} characters, without control characters`);
  }
  return text;
}
