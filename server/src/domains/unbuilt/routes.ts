import { notBuilt } from "../../base/errors.ts";
import type { HttpScope } from "../../http/server.ts";
import {
  ClusterOffersAnswer,
  ClusterSearchBody,
  ClustersAnswer,
  CreateClusterBody,
  CreateOverlayBody,
  DeleteClusterBody,
  DeleteOverlayBody,
  JoinClusterBody,
  JoinOverlayBody,
  LeaveClusterBody,
  OverlaysAnswer,
} from "./schema.ts";

const READ_ACCOUNT = "user_read";
const WRITE_ACCOUNT = "user_write";

/**
 * Published operations of things that do not exist yet: reads find nothing, in the published shape, and writes are
 * refused with 501. They store nothing, so that an Idempotency-Key has nothing to keep.
 */
export function unbuiltRoutes(scope: HttpScope): void {
  clusterRoutes(scope);
  overlayRoutes(scope);
}

async function refuseCluster(): Promise<never> {
  throw notBuilt(
    "There are no clusters yet. List each machine by itself, and a disk that several of them mount as a network disk.",
  );
}

function clusterRoutes({ app }: HttpScope): void {
  app.put(
    "/api/v0/search/clusters/",
    {
      config: { access: { operation: "api.cluster.search", permission: "misc" } },
      schema: {
        tags: ["Offers"],
        summary: "Search offers of clusters",
        body: ClusterSearchBody,
        response: { 200: ClusterOffersAnswer },
      },
    },
    async () => ({ offers: [] }),
  );
  app.get(
    "/api/v0/clusters/",
    {
      config: { access: { operation: "api.cluster.list", permission: READ_ACCOUNT } },
      schema: { tags: ["Machines"], summary: "List own clusters", response: { 200: ClustersAnswer } },
    },
    async () => ({ clusters: {} }),
  );
  app.post(
    "/api/v0/cluster/",
    {
      config: { access: { operation: "api.cluster.create", permission: WRITE_ACCOUNT } },
      schema: { tags: ["Machines"], summary: "Create a cluster: not built yet", body: CreateClusterBody },
    },
    refuseCluster,
  );
  app.put(
    "/api/v0/cluster/",
    {
      config: { access: { operation: "api.cluster.join", permission: WRITE_ACCOUNT } },
      schema: { tags: ["Machines"], summary: "Add machines to a cluster: not built yet", body: JoinClusterBody },
    },
    refuseCluster,
  );
  app.delete(
    "/api/v0/cluster/",
    {
      config: { access: { operation: "api.cluster.delete", permission: WRITE_ACCOUNT } },
      schema: { tags: ["Machines"], summary: "Delete a cluster: not built yet", body: DeleteClusterBody },
    },
    refuseCluster,
  );
  app.delete(
    "/api/v0/cluster/remove_machine/",
    {
      config: { access: { operation: "api.cluster.remove_machine", permission: WRITE_ACCOUNT } },
      schema: { tags: ["Machines"], summary: "Take a machine out of a cluster: not built yet", body: LeaveClusterBody },
    },
    refuseCluster,
  );
}

async function refuseOverlay(): Promise<never> {
  throw notBuilt(
    "There are no overlay networks yet. Instances reach each other at their public addresses and mapped ports.",
  );
}

function overlayRoutes({ app }: HttpScope): void {
  app.get(
    "/api/v0/overlay/",
    {
      config: { access: { operation: "api.overlay.list", permission: READ_ACCOUNT } },
      schema: { tags: ["Instances"], summary: "List own overlay networks", response: { 200: OverlaysAnswer } },
    },
    async () => [],
  );
  app.post(
    "/api/v0/overlay/",
    {
      config: { access: { operation: "api.overlay.create", permission: WRITE_ACCOUNT } },
      schema: { tags: ["Instances"], summary: "Create an overlay network: not built yet", body: CreateOverlayBody },
    },
    refuseOverlay,
  );
  app.put(
    "/api/v0/overlay/",
    {
      config: { access: { operation: "api.overlay.join", permission: WRITE_ACCOUNT } },
      schema: {
        tags: ["Instances"],
        summary: "Add an instance to an overlay network: not built yet",
        body: JoinOverlayBody,
      },
    },
    refuseOverlay,
  );
  app.delete(
    "/api/v0/overlay/",
    {
      config: { access: { operation: "api.overlay.delete", permission: WRITE_ACCOUNT } },
      schema: { tags: ["Instances"], summary: "Delete an overlay network: not built yet", body: DeleteOverlayBody },
    },
    refuseOverlay,
  );
}
