import { invalid } from "../../../base/errors.ts";
import type { EndpointGroupId } from "../../../base/ids.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { OpenedRecipe, Recipe, WorkerGroup } from "./worker-group.ts";

const LOGIN_CONTEXT = "worker group login";

type EncryptedParts = Pick<Recipe, "encryptedArgs" | "encryptedLogin">;

/** The recipe that a request changes, and the endpoint for whose worker groups it is encrypted. */
export type Present<Current extends EncryptedParts = EncryptedParts> = {
  readonly current: Current;
  readonly endpointId: EndpointGroupId;
};

/**
 * The encrypted parts with the sent ones in their place. An unchanged text keeps its ciphertext: it makes no new
 * recipe.
 */
export function changeRecipe(
  { launchArgs, login }: { readonly [Part in keyof OpenedRecipe]: OpenedRecipe[Part] | undefined },
  { current, endpointId }: Present,
  encryption: Encryption,
): EncryptedParts {
  const keepsArgs =
    launchArgs === undefined || launchArgs === openArgs({ ...current, endpointGroupId: endpointId }, encryption);
  const keepsLogin = login === undefined || login === openLogin(current, encryption);
  return {
    encryptedArgs: keepsArgs ? current.encryptedArgs : encryptArgs(launchArgs, endpointId, encryption),
    encryptedLogin: keepsLogin ? current.encryptedLogin : encryptText(login, LOGIN_CONTEXT, encryption),
  };
}

type WithArgs = Pick<WorkerGroup, "encryptedArgs" | "endpointGroupId">;

/** Decrypts a recipe. Throws if its arguments cannot be decrypted: a worker would be rented on other terms. */
export function openRecipe(stored: WithArgs & Pick<Recipe, "encryptedLogin">, encryption: Encryption): OpenedRecipe {
  const launchArgs = openArgs(stored, encryption);
  if (launchArgs === undefined) {
    throw invalid("launch_args", "The launch_args of this worker group can no longer be read; set them again.");
  }
  return { launchArgs, login: openLogin(stored, encryption) };
}

/** The launch arguments of a group; undefined when they were encrypted with another secret. */
export function openArgs({ encryptedArgs, endpointGroupId }: WithArgs, encryption: Encryption): string | undefined {
  return encryptedArgs === "" ? "" : encryption.decrypt(encryptedArgs, argsContext(endpointGroupId));
}

/** The login of a recipe; empty when there is none, or it was encrypted with another secret. */
function openLogin({ encryptedLogin }: Pick<Recipe, "encryptedLogin">, encryption: Encryption): string {
  return encryptedLogin === "" ? "" : (encryption.decrypt(encryptedLogin, LOGIN_CONTEXT) ?? "");
}

/** Encrypts launch arguments for storage with a worker group of this endpoint. */
export function encryptArgs(launchArgs: string, endpointId: EndpointGroupId, encryption: Encryption): string {
  return encryptText(launchArgs, argsContext(endpointId), encryption);
}

function encryptText(text: string, context: string, encryption: Encryption): string {
  return text === "" ? "" : encryption.encrypt(text, context);
}

/** The context includes the endpoint, as a worker group never moves to another one. */
function argsContext(endpointId: EndpointGroupId): string {
  return `worker group launch arguments ${endpointId}`;
}
