import type { HttpScope } from "../../../http/server.ts";
import { adminRoutes } from "./admin/routes.ts";
import { emailRoutes } from "./emails/routes.ts";
import { keyRoutes } from "./keys/routes.ts";
import type { AccountPorts } from "./route-ports.ts";
import { savedSearchRoutes } from "./saved-searches/routes.ts";
import { secretRoutes } from "./secrets/routes.ts";
import { sshKeyRoutes } from "./ssh-keys/routes.ts";
import { auditLogRoutes } from "./audit-log/audit-log-routes.ts";
import { subaccountRoutes } from "./subaccounts/routes.ts";
import { userRoutes } from "./users/routes.ts";

/** Users, subaccounts, keys, secrets, IP history, audit log, and acts of administrators on accounts. */
export function accountRoutes(scope: HttpScope, ports: AccountPorts): void {
  userRoutes(scope, ports);
  subaccountRoutes(scope, ports);
  auditLogRoutes(scope, ports);
  emailRoutes(scope, ports);
  keyRoutes(scope, ports);
  sshKeyRoutes(scope);
  secretRoutes(scope, ports);
  savedSearchRoutes(scope);
  adminRoutes(scope, ports);
}
