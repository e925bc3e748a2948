import type { HttpScope } from "../../http/server.ts";
import { foundRoutes } from "./found/routes.ts";
import { searchRoutes } from "./found/search-routes.ts";
import { userRoutes } from "./found/user-routes.ts";

/** Routes by which administrators see the whole market: accounts, machines and instances of everybody. */
export function administrationRoutes(scope: HttpScope): void {
  userRoutes(scope);
  foundRoutes(scope);
  searchRoutes(scope);
}
