import { invalid } from "../../../base/errors.ts";
import type { DeploymentId } from "../../../base/ids.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Container, Login } from "./deployment.ts";

/** A container as it is stored with a version: variables and login are encrypted. */
export type EncryptedContainer = Omit<Container, "env" | "login"> & {
  /** Empty when there are no variables. */
  readonly encryptedEnv: string;
  /** Empty when there is no login. */
  readonly encryptedLogin: string;
};

type Place = { readonly deploymentId: DeploymentId };

const LOGIN_CONTEXT = "deployment login";

export function encryptContainer(
  container: Container,
  { deploymentId }: Place,
  encryption: Encryption,
): EncryptedContainer {
  const { env, login, ...open } = container;
  return {
    ...open,
    encryptedEnv: encryptEnv(env, { deploymentId }, encryption),
    encryptedLogin: login === undefined ? "" : encryption.encrypt(JSON.stringify(login), LOGIN_CONTEXT),
  };
}

/** Decrypts the container. Throws if its variables cannot be decrypted: a version must not run without them. */
export function openContainer(stored: EncryptedContainer & Place, encryption: Encryption): Container {
  const { image, storageGb } = stored;
  const env = openEnv(stored, encryption);
  if (env === undefined) {
    throw invalid("env", "The env of this deployment's version can no longer be read; deploy it again.");
  }
  return { image, storageGb, env, login: openLogin(stored, encryption) };
}

export function encryptEnv(env: string, { deploymentId }: Place, encryption: Encryption): string {
  return env === "" ? "" : encryption.encrypt(env, envContext(deploymentId));
}

/** The variables of a version; undefined when they were encrypted with another secret. */
export function openEnv(
  { encryptedEnv, deploymentId }: Pick<EncryptedContainer, "encryptedEnv"> & Place,
  encryption: Encryption,
): string | undefined {
  return encryptedEnv === "" ? "" : encryption.decrypt(encryptedEnv, envContext(deploymentId));
}

/** The decrypted login; undefined when there is none, or it was encrypted with another secret. */
export function openLogin(
  { encryptedLogin }: Pick<EncryptedContainer, "encryptedLogin">,
  encryption: Encryption,
): Login | undefined {
  const text = encryptedLogin === "" ? undefined : encryption.decrypt(encryptedLogin, LOGIN_CONTEXT);
  // This server wrote the text: nobody without the secret could have encrypted it.
  return text === undefined ? undefined : (JSON.parse(text) as Login);
}

function envContext(deploymentId: DeploymentId): string {
  return `deployment variables ${deploymentId}`;
}
