import type { Encryption } from "../../../../base/encryption.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { computeHashId } from "../rules/content-hash.ts";
import { readNewContent } from "../rules/content.ts";
import { findOwnByCurrentHash, insertTemplate, updateTemplate, type NewVersion } from "../store.ts";
import { CATALOGUE, type ShippedTemplate } from "./catalogue.ts";
import { lockShipped, noteShipped, recommend, type Shipped } from "./store.ts";

/**
 * Makes sure of the public templates that come with the server, in the name of this administrator. One that was edited
 * or deleted stays as it is; the others get the content of this version, unless a newer version wrote theirs.
 */
export async function shipTemplates(
  tx: Tx,
  creatorId: UserId,
  { encryption, catalogue = CATALOGUE }: { readonly encryption: Encryption; readonly catalogue?: typeof CATALOGUE },
): Promise<void> {
  const known = await lockShipped(tx);
  for (const template of catalogue) {
    const version = versionOf(template);
    const earlier = known.get(template.key);
    if (earlier === undefined) await ship(tx, { creatorId, template, version }, encryption);
    else if (mayUpdate(earlier, template, version)) await update(tx, { earlier, template, version }, encryption);
  }
}

function versionOf({ fields }: ShippedTemplate): NewVersion {
  const content = readNewContent({ ...fields, private: false });
  return { content, encryptedPassword: "", hashId: computeHashId(content, "") };
}

function mayUpdate({ template, hashId, revision }: Shipped, newer: ShippedTemplate, version: NewVersion): boolean {
  const isAsShipped = !template.isDeleted && template.hash_id === hashId;
  return isAsShipped && newer.revision > revision && version.hashId !== hashId;
}

type New = { readonly creatorId: UserId; readonly template: ShippedTemplate; readonly version: NewVersion };

async function ship(tx: Tx, { creatorId, template, version }: New, encryption: Encryption): Promise<void> {
  const { hashId } = version;
  const inserted = await insertTemplate(tx, creatorId, version, encryption);
  // The administrator may have made exactly this template before.
  const made = inserted ?? (await findOwnByCurrentHash(tx.db, creatorId, hashId, encryption));
  if (made === undefined) return;
  await noteShipped(tx, { key: template.key, templateId: made.id, hashId, revision: template.revision });
  await recommend(tx, made.id);
}

type Update = { readonly earlier: Shipped; readonly template: ShippedTemplate; readonly version: NewVersion };

async function update(
  tx: Tx,
  { earlier, template: { key, revision }, version }: Update,
  encryption: Encryption,
): Promise<void> {
  const { template } = earlier;
  const { hashId } = version;
  const twin = await findOwnByCurrentHash(tx.db, template.creator_id, hashId, encryption);
  if (twin !== undefined) return;
  await updateTemplate(tx, template, version, encryption);
  await noteShipped(tx, { key, templateId: template.id, hashId, revision });
}
