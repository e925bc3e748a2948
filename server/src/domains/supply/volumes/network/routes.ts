import type { FastifyRequest, FastifySchemaValidationError } from "fastify";
import { AppError } from "../../../../base/errors.ts";
import { asId, type NetworkVolumeOfferId } from "../../../../base/ids.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { toGb } from "../offers/rules/listing.ts";
import { payerOf } from "../metering/credit.ts";
import {
  createNetworkDisk,
  invalidDiskId,
  listNetworkDisk,
  listOfferedNetworkSpace,
  mountNetworkDisk,
  rentNetworkVolume,
  showNetworkDisks,
  unlistNetworkDisk,
} from "./service.ts";
import {
  CreateDiskBody,
  CreateDiskResponse,
  ListNetworkDisksResponse,
  ListNetworkVolumeBody,
  ListNetworkVolumeResponse,
  MountNetworkDiskBody,
  MountNetworkDiskResponse,
  RentBody,
  RentResponse,
  SearchBody,
  SearchQuery,
  SearchResponse,
  Success,
  UnlistBody,
} from "../schema.ts";
import { searchVolumeOffers } from "../offers/search.ts";
import { agreedPrice, volumeHandle } from "../views.ts";

const TAG = ["Network volumes"];

/** Routes of network disks, their listings and the volumes rented of them. */
export function networkVolumeRoutes(scope: HttpScope): void {
  listingRoutes(scope);
  diskRoutes(scope);
  const { app, clock, database } = scope;

  app.post(
    "/api/v0/network_volumes/search/",
    {
      config: { access: { operation: "api.network_volume.search", permission: "misc" } },
      schema: {
        tags: TAG,
        summary: "Search network volume offers",
        querystring: SearchQuery,
        body: SearchBody,
        response: { 200: SearchResponse },
      },
    },
    async (request) => {
      const now = clock.now();
      const spaces = await listOfferedNetworkSpace(database.kysely, now);
      return { offers: searchVolumeOffers(spaces, { ...request.query, ...request.body }, now) };
    },
  );

  app.put(
    "/api/v0/network_volumes/",
    {
      config: { access: { operation: "api.network_volume.rent", permission: "instance_write" } },
      schema: { tags: TAG, summary: "Rent a network volume", body: RentBody, response: { 200: RentResponse } },
    },
    (request) =>
      scope.mutate(request, async (tx) => {
        const { id, sizeBytes, offer } = await rentNetworkVolume(tx, payerOf(identityOf(request)), request.body);
        return { success: true as const, id, volume_name: volumeHandle(id), ...agreedPrice(offer, sizeBytes) };
      }),
  );

  app.post(
    "/api/v0/network_volumes/unlist/",
    {
      config: { access: { operation: "api.network_volume.unlist", permission: "machine_write" } },
      schema: { tags: TAG, summary: "Unlist a network volume", body: UnlistBody, response: { 200: Success } },
    },
    (request) =>
      scope.mutate(request, async (tx) => {
        await unlistNetworkDisk(tx, identityOf(request).userId, asId<NetworkVolumeOfferId>(request.body.id));
        return { success: true as const, msg: `Unlisted Network Volume ${request.body.id}.` };
      }),
  );
}

/** Routes that list a network disk for rent, under both published paths (singular and plural), and unlist it. */
function listingRoutes(scope: HttpScope): void {
  const { app } = scope;
  const list = (request: FastifyRequest<{ Body: ListNetworkVolumeBody }>) =>
    scope.mutate(request, async (tx) => {
      const { offerId, isNew, listing } = await listNetworkDisk(tx, identityOf(request).userId, request.body);
      const size = `${toGb(listing.sizeBytes)} GB of network disk ${request.body.disk_id}`;
      const text = `${isNew ? "Created" : "Updated"} network volume listing ${offerId}: ${size}.`;
      return { success: true as const, disk_id: text, msg: text };
    });
  const access = { operation: "api.network_volume.list", permission: "machine_write" } as const;
  const schema = {
    tags: TAG,
    summary: "List a network disk as a network volume, or update its listing",
    body: ListNetworkVolumeBody,
    response: { 200: ListNetworkVolumeResponse },
  };
  const options = { schema, schemaErrorFormatter: diskIdFirst };
  app.post("/api/v0/network_volume/", { ...options, config: { access } }, list);
  app.post("/api/v0/network_volumes/", { ...options, config: { access: { ...access, isAlias: true } } }, list);
}

/** An invalid `disk_id` gets the contract's own message; other fields are named as everywhere. */
function diskIdFirst(errors: FastifySchemaValidationError[]): Error {
  const isAboutDiskId = ({ instancePath, params }: FastifySchemaValidationError) =>
    instancePath === "/disk_id" || [params["requiredProperties"]].flat().includes("disk_id");
  if (errors.some(isAboutDiskId)) return invalidDiskId();
  const [first] = errors;
  const field = first?.instancePath.slice(1) || "body";
  return new AppError("invalid", "invalid_args", `${field} ${first?.message ?? "is not valid"}`, { extra: { field } });
}

function diskRoutes(scope: HttpScope): void {
  const { app, database } = scope;
  app.get(
    "/api/v0/network_disk/",
    {
      config: { access: { operation: "api.network_disk.list", permission: "machine_read" } },
      schema: { tags: TAG, summary: "Show own network disks", response: { 200: ListNetworkDisksResponse } },
    },
    async (request) => ({ data: await showNetworkDisks(database.kysely, identityOf(request).userId) }),
  );

  app.post(
    "/api/v0/network_disk/",
    {
      config: { access: { operation: "api.network_disk.mount", permission: "machine_write" } },
      schema: {
        tags: TAG,
        summary: "Say which own machines mount a network disk",
        body: MountNetworkDiskBody,
        response: { 200: MountNetworkDiskResponse },
      },
    },
    (request) =>
      scope.mutate(request, async (tx) => ({
        success: true as const,
        disk_id: await mountNetworkDisk(tx, identityOf(request).userId, request.body),
      })),
  );

  app.post(
    "/api/v0/admin/disks/",
    {
      config: { access: { operation: "api.admin.disk", permission: "admin" } },
      schema: {
        tags: ["Administration"],
        summary: "Give a user a network disk",
        body: CreateDiskBody,
        response: { 200: CreateDiskResponse },
      },
    },
    (request) =>
      scope.mutate(request, async (tx) => {
        const { diskId, owner, sizeBytes } = await createNetworkDisk(tx, request.body);
        return { disk_id: diskId, user_id: owner.id, email: owner.email, size: toGb(sizeBytes) };
      }),
  );
}
