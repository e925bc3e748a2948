import { invalid } from "../../../base/errors.ts";
import type { EndpointGroupId } from "../../../base/ids.ts";
import type { Sealer } from "../../../base/seal.ts";
import type { OpenedRecipe, Recipe, WorkerGroup } from "./worker-group.ts";

const LOGIN_CONTEXT = "worker group login";

type SealedParts = Pick<Recipe, "sealedArgs" | "sealedLogin">;

/** The recipe that a request changes, and the endpoint for whose worker groups it is encrypted. */
export type Present<Current extends SealedParts = SealedParts> = {
  readonly current: Current;
  readonly endpointId: EndpointGroupId;
};

/**
 * The encrypted parts with the sent ones in their place. An unchanged text keeps its ciphertext: it makes no new
 * recipe.
 */
export function resealRecipe(
  { launchArgs, login }: { readonly [Part in keyof OpenedRecipe]: OpenedRecipe[Part] | undefined },
  { current, endpointId }: Present,
  sealer: Sealer,
): SealedParts {
  const keepsArgs =
    launchArgs === undefined || launchArgs === openArgs({ ...current, endpointGroupId: endpointId }, sealer);
  const keepsLogin = login === undefined || login === openLogin(current, sealer);
  return {
    sealedArgs: keepsArgs ? current.sealedArgs : sealArgs(launchArgs, endpointId, sealer),
    sealedLogin: keepsLogin ? current.sealedLogin : seal(login, LOGIN_CONTEXT, sealer),
  };
}

type WithArgs = Pick<WorkerGroup, "sealedArgs" | "endpointGroupId">;

/** Decrypts a recipe. Throws if its arguments cannot be decrypted: a worker would be rented on other terms. */
export function openRecipe(stored: WithArgs & Pick<Recipe, "sealedLogin">, sealer: Sealer): OpenedRecipe {
  const launchArgs = openArgs(stored, sealer);
  if (launchArgs === undefined) {
    throw invalid("launch_args", "The launch_args of this worker group can no longer be read; set them again.");
  }
  return { launchArgs, login: openLogin(stored, sealer) };
}

/** The launch arguments of a group; undefined when they were encrypted with another secret. */
export function openArgs({ sealedArgs, endpointGroupId }: WithArgs, sealer: Sealer): string | undefined {
  return sealedArgs === "" ? "" : sealer.open(sealedArgs, argsContext(endpointGroupId));
}

/** The login of a recipe; empty when there is none, or it was encrypted with another secret. */
function openLogin({ sealedLogin }: Pick<Recipe, "sealedLogin">, sealer: Sealer): string {
  return sealedLogin === "" ? "" : (sealer.open(sealedLogin, LOGIN_CONTEXT) ?? "");
}

/** Encrypts launch arguments for storage with a worker group of this endpoint. */
export function sealArgs(launchArgs: string, endpointId: EndpointGroupId, sealer: Sealer): string {
  return seal(launchArgs, argsContext(endpointId), sealer);
}

function seal(text: string, context: string, sealer: Sealer): string {
  return text === "" ? "" : sealer.seal(text, context);
}

/** The context includes the endpoint, as a worker group never moves to another one. */
function argsContext(endpointId: EndpointGroupId): string {
  return `worker group launch arguments ${endpointId}`;
}
