import { asId, MAX_ID, type EndpointGroupId } from "../../../base/ids.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import { hangUpOf } from "../routing/routes.ts";
import { EndpointPath } from "../endpoints/schema.ts";
import { SimulateBody, SimulateResponse } from "./schema.ts";
import { gatherTrial, tooMuch } from "./service.ts";
import { simulationRecord } from "./views.ts";
import { Simulations } from "./simulations.ts";

/** The route that replays an endpoint's traffic under other parameters, before anything is changed. */
export function simulateRoutes({ app, database, clock }: HttpScope): void {
  const simulations = new Simulations(clock);
  app.addHook("preClose", async () => simulations.stop());

  app.post(
    "/api/v0/endptjobs/:id/simulate/",
    {
      config: { access: { operation: "api.endpoint.simulate", permission: "misc" } },
      schema: {
        tags: ["Serverless"],
        summary: "Compare other parameters with the present ones on an endpoint group's own past, or on a trace",
        params: EndpointPath,
        body: SimulateBody,
        response: { 200: SimulateResponse },
      },
    },
    async (request, reply) => {
      const { body, params } = request;
      const { userId } = identityOf(request);
      const id = asId<EndpointGroupId>(params.id >= 1 && params.id <= MAX_ID ? params.id : 0);
      const gather = () => gatherTrial(database, { userId, id, body, nowMs: clock.now().getTime() });
      const outcome = await simulations.run(userId, gather, { hungUp: hangUpOf(reply) });
      if (outcome.kind === "too_much") {
        throw tooMuch(body.trace === undefined ? "from" : "trace", "the simulation took too long");
      }
      return simulationRecord(outcome.gathered, outcome.result);
    },
  );
}
