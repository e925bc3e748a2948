import { Type } from "typebox";
import type { Encryption } from "../../../../base/encryption.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { callerMachineActions } from "../machine-actions.ts";
import { showMachines } from "../machine-service.ts";
import { TAGS } from "../route-ports.ts";
import { MachineRecord } from "../schema.ts";
import { viewMachine } from "../views.ts";
import { machinePageOf } from "./machine-page.ts";

const Text = Type.Optional(Type.String());
const PageQuery = Type.Object({
  limit: Type.Optional(Type.Number()),
  after_token: Text,
  order_by: Text,
  select_cols: Text,
  select_filters: Text,
});
const PageResponse = Type.Object({
  success: Type.Literal(true),
  total_machines: Type.Integer({ description: "Number of machines on all pages", examples: [3] }),
  machines_found: Type.Integer({ description: "Number of machines on this page", examples: [3] }),
  machines: Type.Array(Type.Partial(MachineRecord, { title: "MachineColumns" }), {
    description: "Records of machines, with `select_cols` only some of their fields",
  }),
  next_token: Type.Union([Type.String(), Type.Null()]),
});

/** The route for a host's machines, page by page. */
export function machinePageRoutes({ accessOf, app, database, clock }: HttpScope, encryption: Encryption): void {
  app.get(
    "/api/v1/machines/",
    {
      config: { access: { operation: "api.machine.page", permission: "machine_read" } },
      schema: {
        tags: TAGS,
        summary: "List own machines, page by page",
        querystring: PageQuery,
        response: { 200: PageResponse },
      },
    },
    async (request) => {
      const now = clock.now();
      const identity = identityOf(request);
      const shown = await showMachines(database.kysely, identity.userId, { now, encryption });
      const forCaller = callerMachineActions(identity, accessOf);
      return machinePageOf(
        shown.map((one) => forCaller(viewMachine(one, now))),
        request.query,
      );
    },
  );
}
