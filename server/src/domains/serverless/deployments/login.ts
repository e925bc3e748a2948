import type { Sealer } from "../../../base/seal.ts";
import type { Login } from "./deployment.ts";

const CONTEXT = "deployment login";

/** Empty when there is none. */
export function sealLogin(login: Login | undefined, sealer: Sealer): string {
  return login === undefined ? "" : sealer.seal(JSON.stringify(login), CONTEXT);
}

/** In clear; undefined when there is none, or it was sealed under another secret. */
export function openLogin({ sealedLogin }: { readonly sealedLogin: string }, sealer: Sealer): Login | undefined {
  const text = sealedLogin === "" ? undefined : sealer.open(sealedLogin, CONTEXT);
  // We wrote it ourselves, and nobody else could have sealed it.
  return text === undefined ? undefined : (JSON.parse(text) as Login);
}
