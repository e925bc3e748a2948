import type { UserId } from "../../../base/ids.ts";
import type { Encryption } from "../../../base/encryption.ts";
import { readStoredContent, type TemplateContent } from "./rules/content.ts";

/** Fields of a template in which its owner puts secrets. Searches have no filter over them. */
type Private = Pick<TemplateContent, "env" | "onstart" | "args_str">;

/** The content of a private template as the database holds it: its private fields are one encrypted text. */
type EncryptedContent = Omit<TemplateContent, keyof Private> & { readonly sealed: string };

/** One version of one creator's template. A text encrypted for one version decrypts for no other. */
export type VersionPlace = { readonly creator_id: UserId; readonly hash_id: string };

/** The content as it may be stored. A public template is readable for everybody, so nothing of it is encrypted. */
export function encryptContent(content: TemplateContent, place: VersionPlace, encryption: Encryption): unknown {
  if (!content.private) return content;
  const { env, onstart, args_str, ...open } = content;
  const hidden: Private = { env, onstart, args_str };
  return { ...open, sealed: encryption.encrypt(JSON.stringify(hidden), contextOf(place)) } satisfies EncryptedContent;
}

/** The whole content; undefined when it was encrypted under a secret that the server no longer has. */
export function decryptContent(
  stored: unknown,
  place: VersionPlace,
  encryption: Encryption,
): TemplateContent | undefined {
  if (!isEncrypted(stored)) return readStoredContent(stored);
  const { sealed, ...open } = stored;
  const text = encryption.decrypt(sealed, contextOf(place));
  return text === undefined ? undefined : readStoredContent({ ...open, ...(JSON.parse(text) as Private) });
}

/** The content for lists: whole, or without the private fields when they no longer decrypt. */
export function decryptContentIfPossible(
  stored: unknown,
  place: VersionPlace,
  encryption: Encryption,
): TemplateContent {
  const content = decryptContent(stored, place, encryption);
  if (content !== undefined || !isEncrypted(stored)) return content ?? readStoredContent(stored);
  const { sealed: _, ...open } = stored;
  return { ...open, env: "", onstart: "", args_str: "" };
}

function isEncrypted(stored: unknown): stored is EncryptedContent {
  return typeof stored === "object" && stored !== null && "sealed" in stored && typeof stored.sealed === "string";
}

function contextOf({ creator_id, hash_id }: VersionPlace): string {
  return `template settings ${creator_id} ${hash_id}`;
}
