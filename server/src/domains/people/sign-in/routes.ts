import type { HttpScope } from "../../../http/server.ts";
import type { SignInMeans } from "./means.ts";
import { browserRoutes } from "./browser/routes.ts";
import { passkeyRoutes } from "./passkeys/routes.ts";
import { passwordRoutes } from "./passwords/routes.ts";
import { seeAsRoutes } from "./see-as/routes.ts";
import { sessionRoutes } from "./sessions/routes.ts";
import { ssoRoutes } from "./sso/routes.ts";
import { adminTfaRoutes } from "./tfa/admin-routes.ts";
import { codeRoutes } from "./tfa/code-routes.ts";
import { methodRoutes } from "./tfa/method-routes.ts";
import { factorRoutes } from "./tfa/factor-routes.ts";
import { tokenRoutes } from "./tokens/routes.ts";

/** Sign-in with a password and a second factor, and the sessions that it opens. */
export function signInRoutes(scope: HttpScope, means: SignInMeans): void {
  sessionRoutes(scope, means);
  browserRoutes(scope, means);
  passkeyRoutes(scope, means);
  ssoRoutes(scope, means);
  tokenRoutes(scope, means);
  seeAsRoutes(scope, means);
  passwordRoutes(scope, means);
  factorRoutes(scope, means);
  codeRoutes(scope, means);
  methodRoutes(scope, means);
  adminTfaRoutes(scope, means);
}
