import { invalid } from "../../../base/errors.ts";
import type { DeploymentId } from "../../../base/ids.ts";
import type { Sealer } from "../../../base/seal.ts";
import type { Container, Login } from "./deployment.ts";

/** A container as it is stored with a version: variables and login are encrypted. */
export type SealedContainer = Omit<Container, "env" | "login"> & {
  /** Empty when there are no variables. */
  readonly sealedEnv: string;
  /** Empty when there is no login. */
  readonly sealedLogin: string;
};

type Place = { readonly deploymentId: DeploymentId };

const LOGIN_CONTEXT = "deployment login";

export function sealContainer(container: Container, { deploymentId }: Place, sealer: Sealer): SealedContainer {
  const { env, login, ...open } = container;
  return {
    ...open,
    sealedEnv: sealEnv(env, { deploymentId }, sealer),
    sealedLogin: login === undefined ? "" : sealer.seal(JSON.stringify(login), LOGIN_CONTEXT),
  };
}

/** Decrypts the container. Throws if its variables cannot be decrypted: a version must not run without them. */
export function openContainer(stored: SealedContainer & Place, sealer: Sealer): Container {
  const { image, storageGb } = stored;
  const env = openEnv(stored, sealer);
  if (env === undefined) {
    throw invalid("env", "The env of this deployment's version can no longer be read; deploy it again.");
  }
  return { image, storageGb, env, login: openLogin(stored, sealer) };
}

export function sealEnv(env: string, { deploymentId }: Place, sealer: Sealer): string {
  return env === "" ? "" : sealer.seal(env, envContext(deploymentId));
}

/** The variables of a version; undefined when they were encrypted with another secret. */
export function openEnv(
  { sealedEnv, deploymentId }: Pick<SealedContainer, "sealedEnv"> & Place,
  sealer: Sealer,
): string | undefined {
  return sealedEnv === "" ? "" : sealer.open(sealedEnv, envContext(deploymentId));
}

/** The decrypted login; undefined when there is none, or it was encrypted with another secret. */
export function openLogin({ sealedLogin }: Pick<SealedContainer, "sealedLogin">, sealer: Sealer): Login | undefined {
  const text = sealedLogin === "" ? undefined : sealer.open(sealedLogin, LOGIN_CONTEXT);
  // This server wrote the text: nobody without the secret could have encrypted it.
  return text === undefined ? undefined : (JSON.parse(text) as Login);
}

function envContext(deploymentId: DeploymentId): string {
  return `deployment variables ${deploymentId}`;
}
