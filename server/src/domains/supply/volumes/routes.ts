import { invalid, notFound } from "../../../base/errors.ts";
import { asId, MAX_ID, type VolumeId, type VolumeOfferId } from "../../../base/ids.ts";
import { identityOf, type HttpScope } from "../../../http/server.ts";
import { sentFields } from "../../../http/sent-fields.ts";
import type { TaskMeans } from "../../rental/tasks/index.ts";
import { callerActions } from "./caller-actions.ts";
import { cloneVolume } from "./clones/service.ts";
import { payerOf } from "./metering/credit.ts";
import { listLocalSpace, rentLocalVolume, requireVolumeOffer, unlistLocalSpace } from "./local/service.ts";
import {
  CloneBody,
  CloneResponse,
  DeleteVolumeBody,
  DeleteVolumeQuery,
  ListVolumeBody,
  ListVolumesQuery,
  ListVolumeResponse,
  ListVolumesResponse,
  RentBody,
  RentResponse,
  SearchBody,
  SearchQuery,
  SearchResponse,
  Success,
  UnlistBody,
} from "./schema.ts";
import { searchVolumeOffers } from "./offers/search.ts";
import type { SpaceTable } from "./offers/space-table.ts";
import { deleteVolume, showVolumes, type VolumeKind } from "./service.ts";
import { agreedPrice, viewListedSpace, volumeHandle } from "./views.ts";

const TAG = ["Volumes"];

const KINDS = {
  local_volume: "local",
  network_volume: "network",
  all_volume: "all",
} as const satisfies Record<string, VolumeKind>;

export type VolumePorts = { readonly space: SpaceTable; readonly means: TaskMeans };

/** Routes of volumes, and of listings of local ones. */
export function volumeRoutes(scope: HttpScope, ports: VolumePorts): void {
  readRoutes(scope, ports);
  renterRoutes(scope);
  cloneRoute(scope, ports);
  hostRoutes(scope);
}

function readRoutes({ accessOf, app, clock, database }: HttpScope, { space }: VolumePorts): void {
  app.get(
    "/api/v0/volumes/",
    {
      config: { access: { operation: "api.volume.list", permission: "instance_read" } },
      schema: {
        tags: TAG,
        summary: "Show own volumes",
        querystring: ListVolumesQuery,
        response: { 200: ListVolumesResponse },
      },
    },
    async (request) => {
      const kind = KINDS[request.query.type ?? "all_volume"];
      const identity = identityOf(request);
      const view = { userId: identity.userId, kind, now: clock.now() };
      const volumes = await showVolumes(database.kysely, view);
      return { volumes: volumes.map(callerActions(identity, accessOf)) };
    },
  );

  app.post(
    "/api/v0/volumes/search/",
    {
      config: { access: { operation: "api.volume.search", permission: "misc" } },
      schema: {
        tags: TAG,
        summary: "Search volume offers",
        querystring: SearchQuery,
        body: SearchBody,
        response: { 200: SearchResponse },
      },
    },
    (request) => ({ offers: searchVolumeOffers(space.rows, { ...request.query, ...request.body }, clock.now()) }),
  );
}

function renterRoutes(scope: HttpScope): void {
  const { app } = scope;
  app.put(
    "/api/v0/volumes/",
    {
      config: { access: { operation: "api.volume.rent", permission: "instance_write" } },
      schema: { tags: TAG, summary: "Rent a volume", body: RentBody, response: { 200: RentResponse } },
    },
    (request) =>
      scope.mutate(request, async (tx) => {
        const { id: offerId, size, name } = request.body;
        const offer = await requireVolumeOffer(tx, offerId);
        const rent = { ...payerOf(identityOf(request)), size, name, fieldPrefix: "" };
        const { id, sizeBytes } = await rentLocalVolume(tx, offer, rent);
        return { success: true as const, id, volume_name: volumeHandle(id), ...agreedPrice(offer, sizeBytes) };
      }),
  );

  app.delete(
    "/api/v0/volumes/",
    {
      config: { access: { operation: "api.volume.delete", permission: "instance_write" } },
      schema: {
        tags: TAG,
        summary: "Delete a volume",
        querystring: DeleteVolumeQuery,
        body: DeleteVolumeBody,
        response: { 200: Success },
      },
    },
    (request) =>
      scope.mutate(request, async (tx) => {
        const id = request.body.id ?? request.query.id;
        if (id === undefined || id < 1) throw invalid("id", "Please provide a valid volume ID.");
        if (id > MAX_ID) throw notFound("no_such_volume", "Volume with that ID does not exist.");
        await deleteVolume(tx, identityOf(request).userId, asId<VolumeId>(id));
        return { success: true as const, msg: `Deleted volume ${id}.` };
      }),
  );
}

function cloneRoute(scope: HttpScope, { means }: VolumePorts): void {
  scope.app.post(
    "/api/v0/volumes/copy/",
    {
      config: { access: { operation: "api.volume.copy", permission: "instance_write" } },
      schema: {
        tags: TAG,
        summary: "Clone a volume onto a new one, on the same machine or another",
        body: CloneBody,
        response: { 200: CloneResponse },
      },
    },
    (request) =>
      scope.mutate(request, async (tx) => {
        const id = await cloneVolume(tx, means, payerOf(identityOf(request)), request.body);
        const route = `${volumeHandle(request.body.src_id)} to ${volumeHandle(id)}`;
        const msg = `Cloning ${route}: GET /api/v0/volumes/ shows how far it has come (status).`;
        return { success: true as const, msg, id, volume_name: volumeHandle(id) };
      }),
  );
}

function hostRoutes(scope: HttpScope): void {
  const { app } = scope;
  app.post(
    "/api/v0/volumes/",
    {
      config: { access: { operation: "api.volume.host_list", permission: "machine_write" } },
      schema: {
        tags: TAG,
        summary: "List space of own machines for rent, or update its listing",
        body: ListVolumeBody,
        response: { 200: ListVolumeResponse },
      },
    },
    (request) =>
      scope.mutate(request, async (tx) => {
        const { userId } = identityOf(request);
        const listed = await listLocalSpace(tx, userId, request.body);
        const ids = listed.map(({ offerId }) => offerId).join(", ");
        const results = listed.map((one) => viewListedSpace(one, userId));
        return {
          success: true as const,
          msg: `Listed Volume ${ids}.`,
          you_sent: sentFields(ListVolumeBody, request.body),
          results,
        };
      }),
  );

  app.post(
    "/api/v0/volumes/unlist/",
    {
      config: { access: { operation: "api.volume.unlist", permission: "machine_write" } },
      schema: { tags: TAG, summary: "Unlist space of an own machine", body: UnlistBody, response: { 200: Success } },
    },
    (request) =>
      scope.mutate(request, async (tx) => {
        await unlistLocalSpace(tx, identityOf(request).userId, asId<VolumeOfferId>(request.body.id));
        return { success: true as const, msg: `Unlisted Volume ${request.body.id}.` };
      }),
  );
}
