import { epochSeconds } from "../../../base/clock.ts";
import type { Encryption } from "../../../base/encryption.ts";
import { invalid } from "../../../base/errors.ts";
import type { UserId } from "../../../base/ids.ts";
import { invariant } from "../../../base/invariant.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import { sentFields } from "../../../http/sent-fields.ts";
import { removeDefaultJob, setDefaultJob } from "./job-service.ts";
import { readMachineIds } from "./own-machine.ts";
import { readPrice } from "./rules/listing.ts";
import { changeMinBid, defragment, listMachines, unlist, type Listed } from "./listing-service.ts";
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
  UnlistResponse,
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
      schema: { tags: TAGS, summary: "List own machines for rent", body: ListBody, response: { 200: ListResponse } },
    },
    (request) => {
      const { machine, machines, hidden_listing: isHidden = false, ...listing } = request.body;
      const machineIds = machines ?? (machine === undefined ? [] : [machine]);
      if (machineIds.length === 0) throw invalid("machine", "machine or machines must name at least one machine");
      if (isHidden) throw invalid("hidden_listing", "hidden_listing must be false: searches find every listing");
      const sent = machines === undefined ? { machine } : { machines };
      return change(request, sent, async (tx) => {
        const { userId: hostId } = identityOf(request);
        const listed = await listMachines(tx, { hostId, machineIds }, listing);
        return { ...SUCCESS, ...viewListed(listed, hostId), you_sent: sentFields(ListBody, request.body) };
      });
    },
  );
}

/** The answer about machines that were listed: sums of all, and the end of the first. */
function viewListed(listed: readonly Listed[], hostId: UserId) {
  const results = listed.map(({ machineId, endAt, extended, increases }) => ({
    machine_id: machineId,
    user_id: hostId,
    extended,
    price_increases: increases,
    end_date: epochSeconds(endAt),
  }));
  const [first] = results;
  invariant(first !== undefined, "a listing names a machine");
  const until = listed.map(({ machineId, endAt }) => `Machine ${machineId} is listed until ${endAt.toISOString()}.`);
  return {
    extended: results.reduce((total, { extended }) => total + extended, 0),
    price_increases: results.reduce((total, { price_increases: count }) => total + count, 0),
    machine_id: first.machine_id,
    end_date: first.end_date,
    msg: until.join(" "),
    results,
  };
}

function unlistRoute(scope: HttpScope): void {
  const { app } = scope;
  const change = audited(scope);
  app.delete(
    "/api/v0/machines/:id/asks/",
    {
      config: { access: { operation: "api.machine.delete_asks", permission: "machine_write" } },
      schema: { tags: TAGS, summary: "Unlist an own machine", params: IdParams, response: { 200: UnlistResponse } },
    },
    (request) =>
      change(request, request.params, async (tx) => {
        await unlist(tx, requestOf(request));
        const { userId } = identityOf(request);
        return { ...SUCCESS, machine_id: request.params.id, user_id: userId, orphaned_cleaned: 0 };
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
        const machineIds = readMachineIds(request.body.machine_ids);
        const done = await defragment(tx, identityOf(request).userId, machineIds);
        const count = done.reduce((sum, { newCount }) => sum + newCount, 0);
        return {
          success: done.length > 0,
          defragmented: done.length === 0 ? null : done.map(({ machineId }) => machineId),
          n0: done.reduce((sum, { earlierCount }) => sum + earlierCount, 0),
          n1: done.reduce((sum, { sizes }) => sum + sizes.length, 0),
          n2: count,
          machines: done.map(({ machineId, sizes, newCount }) => ({
            machine_id: machineId,
            offers: [...sizes],
            num_new: newCount,
          })),
          msg:
            done.length === 0
              ? "machine_ids names no machine."
              : `${count} offers were missing. An offer is of any GPUs that are free: nothing has to be moved for it.`,
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
