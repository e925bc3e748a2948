import { epochSeconds } from "../../../base/clock.ts";
import type { Encryption } from "../../../base/encryption.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import { removeDefaultJob, setDefaultJob } from "./job-service.ts";
import { readPrice } from "./rules/listing.ts";
import { changeMinBid, defragment, listMachine, unlist } from "./listing-service.ts";
import { audited, requestOf, SUCCESS, TAGS } from "./route-ports.ts";
import {
  DefragBody,
  DefragResponse,
  IdParams,
  JobBody,
  JobResponse,
  ListBody,
  ListResponse,
  MachineDone,
  MinBidBody,
  MinBidResponse,
} from "./schema.ts";
import { viewJob } from "./views.ts";

/** Routes by which a host lists a machine, and sets the job that runs there while nobody rents it. */
export function listingRoutes(scope: HttpScope, encryption: Encryption): void {
  listRoute(scope);
  unlistRoute(scope);
  minBidRoute(scope);
  defragmentRoute(scope);
  jobRoutes(scope, encryption);
}

function listRoute(scope: HttpScope): void {
  const { app } = scope;
  const change = audited(scope);
  app.put(
    "/api/v0/machines/create_asks/",
    {
      config: { access: { operation: "api.machine.create_asks", permission: "machine_write" } },
      schema: { tags: TAGS, summary: "List an own machine for rent", body: ListBody, response: { 200: ListResponse } },
    },
    (request) => {
      const { machine: machineId, ...listing } = request.body;
      return change(request, { machine: machineId }, async (tx) => {
        const listed = await listMachine(tx, { hostId: identityOf(request).userId, machineId }, listing);
        const until = listed.endAt.toISOString();
        return {
          ...SUCCESS,
          extended: listed.extended,
          price_increases: listed.increases,
          machine_id: listed.machineId,
          end_date: epochSeconds(listed.endAt),
          msg: `Machine ${listed.machineId} is listed until ${until}.`,
        };
      });
    },
  );
}

function unlistRoute(scope: HttpScope): void {
  const { app } = scope;
  const change = audited(scope);
  app.delete(
    "/api/v0/machines/:id/asks/",
    {
      config: { access: { operation: "api.machine.delete_asks", permission: "machine_write" } },
      schema: { tags: TAGS, summary: "Unlist an own machine", params: IdParams, response: { 200: MachineDone } },
    },
    (request) =>
      change(request, request.params, async (tx) => {
        await unlist(tx, requestOf(request));
        return { ...SUCCESS, machine_id: request.params.id, user_id: identityOf(request).userId };
      }),
  );
}

function minBidRoute(scope: HttpScope): void {
  const { app } = scope;
  const change = audited(scope);
  app.put(
    "/api/v0/machines/:id/minbid/",
    {
      config: { access: { operation: "api.machine.set_min_bid", permission: "machine_write" } },
      schema: {
        tags: TAGS,
        summary: "Set what bids on an own machine must reach",
        params: IdParams,
        body: MinBidBody,
        response: { 200: MinBidResponse },
      },
    },
    (request) => {
      const { price } = request.body;
      return change(request, { ...request.params, price }, async (tx) => {
        await changeMinBid(tx, requestOf(request), price);
        return { ...SUCCESS, you_sent: { price } };
      });
    },
  );
}

function defragmentRoute(scope: HttpScope): void {
  const { app } = scope;
  const change = audited(scope);
  app.put(
    "/api/v0/machines/defrag_offers/",
    {
      config: { access: { operation: "api.machine.defrag_offers", permission: "machine_write" } },
      schema: {
        tags: TAGS,
        summary: "Build the offers of own machines again",
        body: DefragBody,
        response: { 200: DefragResponse },
      },
    },
    (request) =>
      change(request, { machine_ids: request.body.machine_ids }, async (tx) => {
        const done = await defragment(tx, identityOf(request).userId, request.body.machine_ids);
        const count = done.reduce((sum, { newCount }) => sum + newCount, 0);
        return {
          ...SUCCESS,
          machines: done.map(({ machineId, sizes, newCount }) => ({
            machine_id: machineId,
            offers: [...sizes],
            num_new: newCount,
          })),
          msg: `${count} offers were missing. An offer is of any GPUs that are free: nothing has to be moved for it.`,
        };
      }),
  );
}

function jobRoutes(scope: HttpScope, encryption: Encryption): void {
  const { app } = scope;
  const change = audited(scope);
  app.put(
    "/api/v0/machines/create_bids/",
    {
      config: { access: { operation: "api.machine.create_bids", permission: "machine_write" } },
      schema: {
        tags: TAGS,
        summary: "Set the default job of an own machine, which runs on its idle GPUs",
        body: JobBody,
        response: { 200: JobResponse },
      },
    },
    (request) => {
      const { machine: machineId, image, args = [], ...prices } = request.body;
      return change(request, { machine: machineId, image }, async (tx) => {
        const hostId = identityOf(request).userId;
        const job = {
          image,
          args,
          priceDeviceNanosPerHour: readPrice(prices.price_gpu ?? 0, "price_gpu"),
          priceInetUpNanosPerGb: readPrice(prices.price_inetu ?? 0, "price_inetu"),
          priceInetDownNanosPerGb: readPrice(prices.price_inetd ?? 0, "price_inetd"),
        };
        const id = await setDefaultJob(tx, { hostId, machineId }, job, encryption);
        return { ...SUCCESS, machine_id: id, user_id: hostId, you_sent: viewJob(job) };
      });
    },
  );
  app.delete(
    "/api/v0/machines/:id/defjob/",
    {
      config: { access: { operation: "api.machine.delete_default_job", permission: "machine_write" } },
      schema: {
        tags: TAGS,
        summary: "Remove the default job of an own machine",
        params: IdParams,
        response: { 200: MachineDone },
      },
    },
    (request) =>
      change(request, request.params, async (tx) => {
        const id = await removeDefaultJob(tx, requestOf(request));
        return { ...SUCCESS, machine_id: id, user_id: identityOf(request).userId };
      }),
  );
}
