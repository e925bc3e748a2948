import type { HttpScope } from "../../../http/server.ts";
import { adminRoutes } from "./admin-routes.ts";
import { emailRoutes } from "./email-routes.ts";
import { keyRoutes } from "./key-routes.ts";
import type { AccountPorts } from "./route-ports.ts";
import { secretRoutes } from "./secret-routes.ts";
import { sshKeyRoutes } from "./ssh-key-routes.ts";
import { userRoutes } from "./user-routes.ts";

/** Users, subaccounts, keys, secrets, IP history, audit log, and acts of administrators on accounts. */
export function accountRoutes(scope: HttpScope, ports: AccountPorts): void {
  userRoutes(scope, ports);
  emailRoutes(scope, ports);
  keyRoutes(scope, ports);
  sshKeyRoutes(scope);
  secretRoutes(scope, ports);
  adminRoutes(scope, ports);
}
