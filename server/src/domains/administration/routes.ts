import type { HttpScope } from "../../http/server.ts";
import { announcementRoutes } from "./announcements/routes.ts";
import { foundRoutes } from "./found/routes.ts";
import { searchRoutes } from "./found/search-routes.ts";
import { userRoutes } from "./found/user-routes.ts";
import { loopRoutes } from "./overview/loop-routes.ts";
import { overviewRoutes } from "./overview/routes.ts";
import type { OverviewPorts } from "./overview/service.ts";
import { actingRoutes } from "./acting/routes.ts";
import { closingRoutes } from "./closing/routes.ts";
import type { ClosingPorts } from "./closing/service.ts";
import type { PauseWatch } from "./pauses/pause-watch.ts";
import { pauseRoutes } from "./pauses/routes.ts";
import { settingRoutes, type SettingInForce } from "./settings/routes.ts";

export type AdministrationPorts = Omit<OverviewPorts, "refusals"> & {
  readonly closing: ClosingPorts;
  readonly pauses: Pick<PauseWatch, "look">;
  readonly listSettings: () => readonly SettingInForce[];
};

/** Routes by which administrators see and run the whole market. */
export function administrationRoutes(scope: HttpScope, ports: AdministrationPorts): void {
  userRoutes(scope);
  foundRoutes(scope);
  searchRoutes(scope);
  overviewRoutes(scope, ports);
  loopRoutes(scope, ports);
  announcementRoutes(scope);
  actingRoutes(scope);
  closingRoutes(scope, ports.closing);
  pauseRoutes(scope, ports.pauses);
  settingRoutes(scope, ports.listSettings);
}
