import { parseId, type MachineId } from "../../../../base/ids.ts";
import { callerOf, identityOf, type HttpScope } from "../../../../http/server.ts";
import { decideTrust, reportReliability, reportVerification, type RefreshOffers } from "./service.ts";
import { DecideBody, DecideResponse, MachineParams, ReliabilityResponse, VerificationResponse } from "./schema.ts";
import { viewReliability, viewTrust, viewVerification } from "./views.ts";

const TAGS = ["Hosts"];

/** Routes that show and decide reliability and verification of machines. */
export function trustRoutes(
  { app, database, clock, mutate }: HttpScope,
  { refreshOffers }: { readonly refreshOffers: RefreshOffers },
): void {
  app.get(
    "/api/v0/machines/:id/reliability/",
    {
      config: { access: { operation: "api.machine.reliability", permission: "public" } },
      schema: {
        tags: TAGS,
        summary: "Show how reliable a machine is, with all facts that this is computed from",
        params: MachineParams,
        response: { 200: ReliabilityResponse },
      },
    },
    async (request) => {
      return viewReliability(
        await reportReliability(database.kysely, parseId<MachineId>(request.params.id), clock.now()),
      );
    },
  );

  app.get(
    "/api/v0/machines/:id/verification/",
    {
      config: { access: { operation: "api.machine.verification", permission: "machine_read" } },
      schema: {
        tags: TAGS,
        summary: "Show whether an own machine is verified, and what is missing",
        params: MachineParams,
        response: { 200: VerificationResponse },
      },
    },
    async (request) => {
      const asked = { identity: identityOf(request), now: clock.now() };
      return viewVerification(await reportVerification(database.kysely, asked, parseId<MachineId>(request.params.id)));
    },
  );

  app.put(
    "/api/v0/admin/machines/:id/verification/",
    {
      config: { access: { operation: "api.admin.machine.verify", permission: "admin" } },
      schema: {
        tags: ["Administration"],
        summary: "Decide by hand whether a machine is verified, and whether it is in a data centre",
        params: MachineParams,
        body: DecideBody,
        response: { 200: DecideResponse },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const caller = callerOf(request);
        const decision = { id: parseId<MachineId>(request.params.id), request: request.body };
        return viewTrust(await decideTrust(tx, caller, decision, refreshOffers));
      }),
  );
}
