import { invalid, throwRefusal } from "../../../../base/errors.ts";
import type { Encryption } from "../../../../base/encryption.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { describeMachines, requireRegistryOn } from "../../../supply/hosts/index.ts";
import { resolveRelaunch, resolveTemplateByHash, resolveTemplateById } from "../../templates/index.ts";
import type { Instance } from "../instance.ts";
import type { Wish } from "../orders/order-desk.ts";
import { listProxyPorts, takeProxyPorts } from "../access/proxy-port-store.ts";
import { renewContainer } from "./renewal-store.ts";
import { decryptSettings, encryptSettings } from "../settings/encrypted-settings.ts";
import { requireInstance, type InstanceRequest } from "../service.ts";
import { applyHappenings } from "../lifecycle/transitions.ts";
import { isUp, refuseGone, refuseRecycle } from "../rules/refusals.ts";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Creates the container again from its freshly pulled image, in place; it keeps its devices and loses the files it
 * wrote.
 */
export async function recycleInstance(tx: Tx, request: InstanceRequest): Promise<void> {
  const instance = await requireInstance(tx, request);
  throwRefusal(refuseRecycle(instance));
  await renewContainer(tx, instance.id);
  await renew(tx, instance, request, "recycle");
}

const SETTINGS = ["template_id", "template_hash_id", "image", "args", "env", "onstart"] as const;

/**
 * Gives an instance other settings. The container of a running one is created again from them at once, in place, and
 * any other at its next start; disk and label stay.
 */
export async function updateSettings(
  tx: Tx,
  request: InstanceRequest,
  fields: Fields,
  encryption: Encryption,
): Promise<void> {
  if (!SETTINGS.some((field) => isGiven(fields, field))) {
    throw invalid("image", `One of ${SETTINGS.join(", ")} is required.`, "missing_input");
  }
  const instance = await requireInstance(tx, request);
  throwRefusal(refuseGone(instance));
  const template = await findTemplate(tx, request, fields, encryption);
  const current = decryptSettings(instance, encryption);
  const launch = encryptSettings(resolveRelaunch(current, template, fields), instance.id, encryption);
  await requireRegistryOn(tx.db, instance.machineId, { image: launch.image, field: "image" });
  await renewContainer(tx, instance.id, {
    launch,
    templateId: template?.id ?? instance.templateId,
    templateHashId: template?.hashId ?? instance.templateHashId,
  });
  await offerProxy(tx, { ...instance, launch });
  if (isUp(instance)) await renew(tx, instance, request, "update_template");
}

/** Gives an instance all settings of a new order. A stopped instance gets them at its next start. */
export async function renewFromWish(
  tx: Tx,
  request: InstanceRequest,
  { launch: wanted, template }: Pick<Wish, "launch" | "template">,
  encryption: Encryption,
): Promise<void> {
  const instance = await requireInstance(tx, request);
  throwRefusal(refuseGone(instance));
  await requireRegistryOn(tx.db, instance.machineId, { image: wanted.image, field: "image" });
  const { disk_gb, label, volume_links } = instance.launch;
  const launch = encryptSettings({ ...wanted, disk_gb, label, volume_links }, instance.id, encryption);
  await renewContainer(tx, instance.id, {
    launch,
    templateId: template?.id,
    templateHashId: template?.hashId,
  });
  await offerProxy(tx, { ...instance, launch });
  if (isUp(instance)) await renew(tx, instance, request, "update_template");
}

async function findTemplate(tx: Tx, { userId }: InstanceRequest, fields: Fields, encryption: Encryption) {
  const { template_hash_id: hash, template_id: id } = fields;
  if (isGiven(fields, "template_hash_id")) return resolveTemplateByHash(tx.db, userId, hash, encryption);
  if (isGiven(fields, "template_id")) return resolveTemplateById(tx.db, userId, id, encryption);
  return undefined;
}

/** Takes proxy ports for an instance that had none and may have them now. */
async function offerProxy(tx: Tx, { id, machineId, launch }: Instance): Promise<void> {
  if (launch.runtype.mode === "args" || (await listProxyPorts(tx.db, [id])).has(id)) return;
  const machine = (await describeMachines(tx.db, [machineId])).get(machineId);
  if (machine !== undefined && machine.engineKind !== "simulated") await takeProxyPorts(tx, [id]);
}

async function renew(tx: Tx, instance: Instance, { actor }: InstanceRequest, cause: string): Promise<void> {
  await applyHappenings(tx, [{ instance, event: "renewalRequested", actor, cause, desired: "running" }]);
}

/** Clients send null, and an empty hash, for absent fields. */
function isGiven(fields: Fields, name: string): boolean {
  const value = fields[name];
  return value !== undefined && value !== null && !(name === "template_hash_id" && value === "");
}
