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

/** Of a private registry. */
export type Login = { readonly user: string; readonly password: string; readonly registry: string };

/** What the code of a version runs in. */
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
  /** Either may be gone: they can be deleted by themselves. */
  readonly endpointId: EndpointGroupId | undefined;
  readonly workerGroupId: WorkerGroupId | undefined;
  readonly searchParams: string;
  /** Undefined: it stays without its client. */
  readonly ttlS: number | undefined;
  readonly heartbeatAt: Date;
  /** What was asked for last, what workers run, and what a worker became ready with last. */
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

/** What a request asks for: all of it, so that what it does not name is what it is by default. */
export type Asked = {
  readonly name: string;
  readonly tag: string;
  readonly code: Code;
  readonly container: Container;
  readonly searchParams: string;
  readonly ttlS: number | undefined;
  readonly label: string;
  /** Of the endpoint, as sent: what is not named stays. */
  readonly scaling: ParameterRequest;
};

export type DeployAction = "created" | "soft_update" | "autoscale_update" | "exists";

export const DEFAULT_TAG = "default";
export const DEFAULT_STORAGE_GB = 50;
/** A file is kept in the database, piece by piece: models are fetched by the code, and are no part of it. */
export const FILE_BYTES_MAX = 256 * 1024 * 1024;
/** Of all the code that a user has, each file once. */
export const CODE_BYTES_MAX = 4 * 1024 ** 3;

const NAME_LENGTH_MAX = 200;
const TAG_LENGTH_MAX = 50;
const LABEL_LENGTH_MAX = 255;
/** The options of a command line that it becomes a part of may not be much longer. */
const ENV_LENGTH_MAX = 24_000;
const STORAGE_GB_MIN = 8;

/** Reads a request; throws `invalid` naming the field that cannot be. */
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

/** Each tag has an endpoint of its own, which is called so unless it is given another name. */
export function endpointNameOf({ name, tag }: Pick<Asked, "name" | "tag">): string {
  return tag === DEFAULT_TAG ? name : `${name}-${tag}`;
}

export function noRoomForCode(): AppError {
  return invalid("file_size", "file_size: the code of your deployments may have 4 GB in all; delete some first");
}

/**
 * The `action` that answers a request. The published set has no word for another container: it takes the way
 * of other code, and workers are made anew from it one after the other.
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
 * Whether a worker of the one would do as one of the other. The hash alone says whether the code is the same: clients
 * make it of what they pack, and the same packed again may be a file of other bytes, and more or fewer of them.
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

/** The options of a command line that makes a worker of it: its image's own entry point runs, and finds the code. */
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
