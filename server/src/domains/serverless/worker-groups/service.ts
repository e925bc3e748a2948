import { invalid, notFound } from "../../../base/errors.ts";
import {
  asId,
  MAX_ID,
  type EndpointGroupId,
  type InstanceId,
  type UserId,
  type WorkerGroupId,
} from "../../../base/ids.ts";
import type { Identity } from "../../../base/identity.ts";
import type { Nanos } from "../../../base/money.ts";
import type { Encryption } from "../../../base/encryption.ts";
import type { Tx } from "../../../db/transaction.ts";
import { lockMachinesOf, type OrderDesk } from "../../rental/instances/index.ts";
import { requireOwnSpending } from "../../rental/instances/for-serverless.ts";
import { refuseUnknownFields } from "../../supply/market/index.ts";
import type { PricedOffer } from "../../supply/market/for-serverless.ts";
import { resolveNamedTemplate, resolveTemplateById } from "../../rental/templates/index.ts";
import { openRecipe, changeRecipe, type Present } from "./encrypted-recipe.ts";
import { removeWorker } from "../workers/removal-service.ts";
import {
  countOutdatedWorkers,
  findEndpointGroupForUpdate,
  listEndpointGroups,
  listWorkersOfGroupForUpdate,
  notifyEndpoints,
  type EndpointGroup,
} from "../endpoints/store.ts";
import {
  changeWorkerGroup,
  DEFAULT_WORKER_GROUP,
  isOtherRecipe,
  launchBodyOf,
  readSearchParams,
  searchQueryOf,
  type Recipe,
  type SearchQuery,
  type WorkerGroupRequest,
  type WorkerGroup,
} from "./worker-group.ts";
import {
  findWorkerGroupForUpdate,
  insertWorkerGroup,
  listWorkerGroups,
  markWorkerGroupDeleted,
  setUpdating,
  updateWorkerGroup,
} from "./store.ts";
import { maximumByMarket, planWorkerPrice } from "../workers/worker-price.ts";

export type WorkerGroupPorts = {
  readonly desk: Pick<OrderDesk, "wishOf">;
  readonly encryption: Encryption;
  /** Searches offers as `POST /api/v0/bundles/` does; mistakes in the query are `invalid`. */
  readonly search: (query: SearchQuery) => readonly PricedOffer[];
};

/** A worker group as a request states it, before validation. */
export type WorkerGroupBody = WorkerGroupRequest & {
  readonly endpoint_id?: number;
  readonly endpoint_name?: string;
  readonly template_id?: number;
  readonly template_hash?: string;
  readonly max_dph?: number;
  readonly docker_login_user?: string;
  readonly docker_login_pass?: string;
  readonly docker_login_repo?: string;
};

type Asked = { readonly identity: Pick<Identity, "userId" | "apiKeyId">; readonly body: WorkerGroupBody };

/** The limit per endpoint: every decision may search the market for each group. */
const GROUPS_MAX = 20;

/** The endpoint of a rehearsal, whose recipe is not stored. */
const NO_ENDPOINT = asId<EndpointGroupId>(0);

const NO_RECIPE: Recipe = {
  templateId: undefined,
  templateHash: "",
  searchParams: "",
  searchQuery: {},
  encryptedArgs: "",
  encryptedLogin: "",
};

/** Makes a worker group for an endpoint, after a check of all settings that its workers will be rented with. */
export async function createWorkerGroup(tx: Tx, { identity, body }: Asked, ports: WorkerGroupPorts) {
  const { userId, apiKeyId } = identity;
  const endpoint = await requireEndpoint(tx, userId, body);
  const parameters = changeWorkerGroup(DEFAULT_WORKER_GROUP, body);
  if ((await listWorkerGroups(tx.db, endpoint.id)).length >= GROUPS_MAX) {
    throw invalid("endpoint_id", `endpoint_id: an endpoint has at most ${GROUPS_MAX} worker groups`);
  }
  const { recipe, byMarket } = await readRecipe(
    tx,
    { identity, body },
    { current: NO_RECIPE, endpointId: endpoint.id, ports },
  );
  const price = planWorkerPrice(body.max_dph, { current: undefined, isOtherSearch: true, byMarket });
  const group = { ...parameters, ...recipe, ...price, endpointGroupId: endpoint.id, userId, apiKeyId };
  const id = await insertWorkerGroup(tx, group);
  await notifyEndpoints(tx, [endpoint.id]);
  return id;
}

/** Makes the checks of `createWorkerGroup` for the same body, except for the endpoint, and creates nothing. */
export async function rehearseWorkerGroup(tx: Tx, asked: Asked, ports: WorkerGroupPorts): Promise<void> {
  changeWorkerGroup(DEFAULT_WORKER_GROUP, asked.body);
  await readRecipe(tx, asked, { current: NO_RECIPE, endpointId: NO_ENDPOINT, ports });
}

/**
 * Changes the sent fields. Another template, other launch arguments or another login make another recipe: workers are
 * then updated one after the other, unless that is called off.
 */
export async function updateOwnWorkerGroup(
  tx: Tx,
  { identity, body, id }: Asked & { readonly id: number },
  ports: WorkerGroupPorts,
): Promise<void> {
  const group = await findWorkerGroupForUpdate(tx, toWorkerGroupId(id), identity.userId);
  if (group === undefined) throw invalid("id", "Workgroup not found for user");
  await requireOwnGroup(tx, identity, group);
  const isMoved =
    (body.endpoint_id !== undefined && body.endpoint_id !== group.endpointGroupId) ||
    (body.endpoint_name !== undefined && body.endpoint_name !== group.endpointName);
  if (isMoved) {
    const field = body.endpoint_id === undefined ? "endpoint_name" : "endpoint_id";
    throw invalid(field, `${field}: a worker group stays with its endpoint; make another one there`);
  }
  const parameters = changeWorkerGroup(group, body);
  const { recipe, byMarket } = await readRecipe(
    tx,
    { identity, body },
    { current: group, endpointId: group.endpointGroupId, ports },
  );
  const isOther = isOtherRecipe(group, recipe);
  const isOtherSearch = recipe.searchParams !== group.searchParams || isOther;
  const price = planWorkerPrice(body.max_dph, { current: group, isOtherSearch, byMarket });
  await updateWorkerGroup(tx, group.id, { group: { ...parameters, ...recipe, ...price }, isOther });
  await notifyEndpoints(tx, [group.endpointGroupId]);
}

/** Begins the update of workers of an earlier recipe, or calls it off; undefined for another user's group. */
export async function updateWorkers(
  tx: Tx,
  { identity, id, isCancelled }: Pick<Asked, "identity"> & { readonly id: number; readonly isCancelled: boolean },
): Promise<{ readonly outdatedCount: number } | undefined> {
  const group = await findWorkerGroupForUpdate(tx, toWorkerGroupId(id), identity.userId);
  if (group === undefined) return undefined;
  await requireOwnGroup(tx, identity, group);
  await setUpdating(tx, group.id, !isCancelled);
  await notifyEndpoints(tx, [group.endpointGroupId]);
  return { outdatedCount: await countOutdatedWorkers(tx.db, group) };
}

/** Refuses a key with a spending cap, as the key that made the group would pay for the change. */
async function requireOwnGroup(
  tx: Tx,
  identity: Asked["identity"],
  { id, apiKeyId }: Pick<WorkerGroup, "id" | "apiKeyId">,
): Promise<void> {
  await requireOwnSpending(tx.db, identity, { payers: [apiKeyId], what: `Worker group ${id}` });
}

/** Deletes a group with its workers; those that could not be removed yet stay tracked and are tried again. */
export async function deleteWorkerGroup(
  tx: Tx,
  { userId, id }: { readonly userId: UserId; readonly id: number },
): Promise<{ readonly deleted: readonly InstanceId[]; readonly failed: readonly InstanceId[] }> {
  const group = await findWorkerGroupForUpdate(tx, toWorkerGroupId(id), userId);
  if (group === undefined) {
    throw notFound("no_such_workergroup", "No workergroup by that id is available.", { extra: { id } });
  }
  const workers = await listWorkersOfGroupForUpdate(tx, group.id);
  await markWorkerGroupDeleted(tx, group.id);
  await lockMachinesOf(
    tx,
    workers.map((worker) => worker.instanceId),
  );
  const deleted: InstanceId[] = [];
  const failed: InstanceId[] = [];
  for (const worker of workers) {
    const outcome = await removeWorker(tx, worker, { actor: `user:${userId}` });
    (outcome === "removed" ? deleted : failed).push(worker.instanceId);
  }
  await notifyEndpoints(tx, [group.endpointGroupId]);
  return { deleted, failed };
}

/** The number as an id; one outside the range of ids finds nothing, like any unknown id. */
export function toWorkerGroupId(id: number): WorkerGroupId {
  return asId<WorkerGroupId>(Number.isInteger(id) && id >= 1 && id <= MAX_ID ? id : 0);
}

/** Locks the endpoint that the request names, so that it is not deleted at the same time. */
async function requireEndpoint(tx: Tx, userId: UserId, body: WorkerGroupBody): Promise<EndpointGroup> {
  const field = body.endpoint_id === undefined ? "endpoint_name" : "endpoint_id";
  const own = body.endpoint_id === undefined ? await findByName(tx, userId, body.endpoint_name) : body.endpoint_id;
  const isId = own !== undefined && Number.isInteger(own) && own >= 1 && own <= MAX_ID;
  const endpoint = isId ? await findEndpointGroupForUpdate(tx, asId<EndpointGroupId>(own), userId) : undefined;
  if (endpoint === undefined || (body.endpoint_name !== undefined && body.endpoint_name !== endpoint.name)) {
    throw invalid(field, "Please assign your workergroup to a valid endpoint identifier");
  }
  return endpoint;
}

async function findByName(tx: Tx, userId: UserId, name: string | undefined): Promise<number | undefined> {
  if (name === undefined) return undefined;
  const named = (await listEndpointGroups(tx.db, userId)).filter((group) => group.name === name);
  if (named.length > 1) {
    const ids = named.map((group) => group.id).join(", ");
    throw invalid("endpoint_name", `endpoint_name: several endpoints have this name; say endpoint_id (${ids})`);
  }
  return named[0]?.id;
}

/**
 * The recipe with the changes of the request, after a rehearsal of renting a worker with it; `byMarket` looks up the
 * maximum price that follows from the market for it.
 */
async function readRecipe(
  tx: Tx,
  { identity, body }: Asked,
  { current, endpointId, ports }: Present<Recipe> & { readonly ports: WorkerGroupPorts },
): Promise<{ readonly recipe: Recipe; readonly byMarket: () => Nanos | undefined }> {
  const template = await readTemplate(tx, { identity, body }, { current, encryption: ports.encryption });
  const login = readLogin(body);
  const recipe = {
    templateId: template?.id,
    templateHash: template?.hashId ?? "",
    ...(readSearchParams(body.search_params) ?? {
      searchParams: current.searchParams,
      searchQuery: current.searchQuery,
    }),
    ...changeRecipe({ launchArgs: body.launch_args, login }, { current, endpointId }, ports.encryption),
  };
  const opened = openRecipe({ ...recipe, endpointGroupId: endpointId }, ports.encryption);
  const wish = await ports.desk.wishOf(tx.db, identity, launchBodyOf(recipe, opened));
  const query = searchQueryOf({ group: recipe, launchArgs: opened.launchArgs }, wish.launch.extra_filters);
  refuseUnknownFields(recipe.searchQuery);
  ports.search({ ...query, limit: 1 });
  return { recipe, byMarket: () => maximumByMarket({ query, wish }, ports.search) };
}

async function readTemplate(
  tx: Tx,
  { identity, body }: Asked,
  { current, encryption }: { readonly current: Recipe; readonly encryption: Encryption },
) {
  const { userId } = identity;
  if (body.template_hash !== undefined && body.template_hash !== "") {
    return resolveNamedTemplate(tx.db, userId, { hash: body.template_hash, field: "template_hash" }, encryption);
  }
  if (body.template_id !== undefined) return resolveTemplateById(tx.db, userId, body.template_id, encryption);
  if (body.template_hash === "" || current.templateHash === "") return undefined;
  return { id: current.templateId, hashId: current.templateHash };
}

/** The login in the form of a creation's command line; an empty one removes the stored login. */
function readLogin(body: WorkerGroupBody): string | undefined {
  const { docker_login_user: user, docker_login_pass: password, docker_login_repo: registry } = body;
  if (user === undefined && password === undefined) return undefined;
  if (!user && !password) return "";
  if (!user) throw invalid("docker_login_user", "docker_login_user is missing beside docker_login_pass");
  if (!password) throw invalid("docker_login_pass", "docker_login_pass is missing beside docker_login_user");
  return ["-u", quote(user), "-p", quote(password), ...(registry ? [quote(registry)] : [])].join(" ");
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
