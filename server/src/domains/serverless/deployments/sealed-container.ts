import { invalid } from "../../../base/errors.ts";
import type { DeploymentId } from "../../../base/ids.ts";
import type { Sealer } from "../../../base/seal.ts";
import type { Container, Login } from "./deployment.ts";

/** A container as it is stored with a version: variables and login are sealed. */
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

/** The container in clear. A version whose variables no longer open must not run without them: that is refused. */
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

/** The variables of a version; undefined when they were sealed under another secret. */
export function openEnv(
  { sealedEnv, deploymentId }: Pick<SealedContainer, "sealedEnv"> & Place,
  sealer: Sealer,
): string | undefined {
  return sealedEnv === "" ? "" : sealer.open(sealedEnv, envContext(deploymentId));
}

/** In clear; undefined when there is none, or it was sealed under another secret. */
export function openLogin({ sealedLogin }: Pick<SealedContainer, "sealedLogin">, sealer: Sealer): Login | undefined {
  const text = sealedLogin === "" ? undefined : sealer.open(sealedLogin, LOGIN_CONTEXT);
  // We wrote it ourselves, and nobody else could have sealed it.
  return text === undefined ? undefined : (JSON.parse(text) as Login);
}

function envContext(deploymentId: DeploymentId): string {
  return `deployment variables ${deploymentId}`;
}
