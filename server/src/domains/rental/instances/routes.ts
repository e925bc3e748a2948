import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { invalid } from "../../../base/errors.ts";
import { MicroBatcher } from "../../../base/micro-batcher.ts";
import { parseDollars } from "../../../base/money.ts";
import type { Tx } from "../../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import { callerActions } from "./access/caller-actions.ts";
import { changeBid } from "./bids/bid-service.ts";
import { bulkChangeRoutes } from "./bulk/bulk-change-routes.ts";
import type { AccruedOf } from "./orders/forecast-service.ts";
import { viewForecast } from "./orders/forecast-views.ts";
import type { OrderDesk } from "./orders/order-desk.ts";
import { filterValuesOf, pageOf } from "./rules/page.ts";
import { CreateAnswer, CreateOneBody, ForecastAnswer } from "./orders/create-schema.ts";
import {
  BidBody,
  Done,
  EventQuery,
  Events,
  FilterValues,
  IdParams,
  Listing,
  ListQuery,
  Page,
  Shown,
  UpdateBody,
} from "./schema.ts";
import {
  destroyInstance,
  listInstanceEvents,
  listInstanceRecords,
  rebootInstance,
  setLabel,
  showInstances,
  startInstance,
  stopInstance,
  type InstanceRequest,
  type ShowRequest,
  type Viewpoint,
} from "./service.ts";
import type { Identity } from "../../../base/identity.ts";
import { actorOf } from "./access/instance-key.ts";
import { instanceSshRoutes } from "./access/ssh-routes.ts";
import { totalsRoutes } from "./totals/totals-routes.ts";
import { readTrafficLimit } from "./traffic/traffic-limit.ts";
import { changeTrafficLimit, type SettleInstance } from "./traffic/traffic-service.ts";
import type { InstanceRecord } from "./views.ts";

/** Bound of a label's characters at a rename; a creation takes 256. */
const LABEL_LENGTH_MAX = 1024;

const SHOWS_PER_BATCH = 64;

type WithId = FastifyRequest<{ Params: { id: number } }>;

function requestOf(request: WithId): InstanceRequest {
  const identity = identityOf(request);
  const { userId, apiKeyId } = identity;
  return { userId, instanceId: request.params.id, actor: actorOf(identity), apiKeyId };
}

type CreationPorts = { readonly desk: OrderDesk; readonly accruedOf: AccruedOf };
type Ports = CreationPorts & Omit<Viewpoint, "now"> & { readonly settle: SettleInstance };

export function instanceRoutes(scope: HttpScope, { desk, accruedOf, settle, ...view }: Ports): void {
  registerCreation(scope, { desk, accruedOf });
  registerReading(scope, view);
  registerHistory(scope);
  totalsRoutes(scope);
  registerChanges(scope, settle);
  bulkChangeRoutes(scope);
  instanceSshRoutes(scope);
}

function registerCreation({ app, repeatable }: HttpScope, { desk, accruedOf }: CreationPorts): void {
  for (const method of ["PUT", "POST"] as const) {
    app.route({
      method,
      url: "/api/v0/asks/:id/",
      config: {
        access: { operation: "api.instance.create", permission: "instance_write", isAlias: method === "POST" },
      },
      schema: {
        summary: "Create an instance from an offer",
        params: IdParams,
        body: CreateOneBody,
        response: { 200: Type.Union([CreateAnswer, ForecastAnswer]) },
      },
      handler: async (request) => {
        const { dry_run: isRehearsal = false, ...body } = request.body;
        const order = { identity: identityOf(request), offerId: request.params.id, body };
        if (isRehearsal) return viewForecast(await desk.forecast(order, accruedOf));
        return desk.order({ ...order, repeatable: repeatable(request) });
      },
    });
  }
}

function registerReading({ app, database, clock, accessOf }: HttpScope, view: Omit<Viewpoint, "now">): void {
  const viewpoint = () => ({ ...view, now: clock.now() });
  const records = async (request: FastifyRequest) => {
    const identity = identityOf(request);
    const forCaller = callerActions(identity, accessOf);
    return (await listInstanceRecords(database.kysely, identity.userId, viewpoint())).map(forCaller);
  };
  // Clients poll this operation: simultaneous reads are done together.
  const shows = new MicroBatcher<ShowRequest, InstanceRecord | undefined>({
    maxBatch: SHOWS_PER_BATCH,
    run: (requests) => showInstances(database.kysely, requests, viewpoint()),
  });
  app.get(
    "/api/v1/instances/",
    {
      config: { access: { operation: "api.instance.page", permission: "instance_read" } },
      schema: { summary: "List instances, page by page", querystring: ListQuery, response: { 200: Page } },
    },
    async (request) => pageOf(await records(request), request.query),
  );
  app.get(
    "/api/v0/instances/",
    {
      config: { access: { operation: "api.instance.list", permission: "instance_read" } },
      schema: { summary: "List all instances", response: { 200: Listing } },
    },
    async (request) => {
      const instances = [...(await records(request))];
      return { instances_found: instances.length, instances };
    },
  );
  app.get(
    "/api/v0/instances/filters/",
    {
      config: { access: { operation: "api.instance.filters", permission: "instance_read" } },
      schema: {
        summary: "List the values by which the caller's instances can be filtered",
        response: { 200: FilterValues },
      },
    },
    async (request) => ({ filters: filterValuesOf(await records(request)) }),
  );
  app.get(
    "/api/v0/instances/:id/",
    {
      config: { access: { operation: "api.instance.show", permission: "instance_read" } },
      schema: {
        summary: "Show one instance; null when there is none",
        params: IdParams,
        response: { 200: Shown },
      },
    },
    async (request) => {
      const identity = identityOf(request);
      const shown = await shows.submit({ userId: identity.userId, instanceId: request.params.id });
      return { instances: shown === undefined ? null : callerActions(identity, accessOf)(shown) };
    },
  );
}

const EVENTS_DEFAULT = 100;

function registerHistory({ app, database }: HttpScope): void {
  app.get(
    "/api/v0/instances/:id/events/",
    {
      config: { access: { operation: "api.instance.events", permission: "instance_read" } },
      schema: {
        summary: "List the events of an instance, newest first",
        params: IdParams,
        querystring: EventQuery,
        response: { 200: Events },
      },
    },
    async (request) => {
      const { userId } = identityOf(request);
      const target = { userId, instanceId: request.params.id };
      const events = await listInstanceEvents(database.kysely, target, request.query.limit ?? EVENTS_DEFAULT);
      return { success: true as const, events };
    },
  );
}

async function update(
  tx: Tx,
  target: InstanceRequest,
  {
    body: { state, label, traffic_limit: limit },
    ...caller
  }: { readonly body: UpdateBody; readonly identity: Identity; readonly settle: SettleInstance },
) {
  if (state === undefined && label === undefined && limit === undefined) {
    throw invalid("state", "state, label or traffic_limit is required");
  }
  if (label !== undefined && label.length > LABEL_LENGTH_MAX) {
    throw invalid("label", `label is longer than ${LABEL_LENGTH_MAX} characters`, "label_too_long");
  }
  if (limit !== undefined) {
    const limitNanos = limit === null ? undefined : readTrafficLimit(limit);
    await changeTrafficLimit(tx, target, { limitNanos, ...caller });
  }
  if (label !== undefined) await setLabel(tx, target, label);
  if (state === "running") await startInstance(tx, target);
  if (state === "stopped") await stopInstance(tx, target);
  return { success: true as const, msg: `Instance ${target.instanceId} updated.` };
}

function registerChanges({ app, mutate }: HttpScope, settle: SettleInstance): void {
  app.put(
    "/api/v0/instances/:id/",
    {
      config: {
        access: { operation: "api.instance.update", permission: "instance_write" },
        nullMembers: ["traffic_limit"],
      },
      schema: {
        summary: "Start, stop or label an instance, or limit the cost of its traffic",
        params: IdParams,
        body: UpdateBody,
        response: { 200: Done },
      },
    },
    (request) => {
      const asked = { body: request.body, identity: identityOf(request), settle };
      return mutate(request, (tx) => update(tx, requestOf(request), asked));
    },
  );
  app.delete(
    "/api/v0/instances/:id/",
    {
      config: { access: { operation: "api.instance.destroy", permission: "instance_write" } },
      schema: { summary: "Destroy an instance", params: IdParams, response: { 200: Done } },
    },
    (request) =>
      mutate(request, async (tx) => {
        await destroyInstance(tx, requestOf(request));
        return { success: true as const, msg: `Instance ${request.params.id} is being destroyed.` };
      }),
  );
  app.put(
    "/api/v0/instances/reboot/:id/",
    {
      config: { access: { operation: "api.instance.reboot", permission: "instance_write" } },
      schema: { summary: "Reboot an instance in place", params: IdParams, response: { 200: Done } },
    },
    (request) =>
      mutate(request, async (tx) => {
        await rebootInstance(tx, requestOf(request));
        return { success: true as const };
      }),
  );
  app.put(
    "/api/v0/instances/bid_price/:id/",
    {
      config: {
        access: { operation: "api.instance.change_bid", permission: "instance_write" },
        nullMembers: ["price"],
      },
      schema: {
        summary: "Change the bid of an interruptible instance",
        params: IdParams,
        body: BidBody,
        response: { 200: Type.Object({ success: Type.Literal(true) }) },
      },
    },
    (request) =>
      mutate(request, async (tx) => {
        const { price } = request.body;
        const bid = price === null ? null : parseDollars(price);
        if (bid === undefined) throw invalid("price", "price must be a decimal number of dollars an hour");
        await changeBid(tx, requestOf(request), bid);
        return { success: true as const };
      }),
  );
}
