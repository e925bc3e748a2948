import type { ImageFacts } from "../engine/engine.ts";
import { parseImageReference } from "./image-reference.ts";

/** True when the host lists the image among those of its own that renters may use: by its name, or `name*`. */
export function isListed(image: string, listed: readonly string[]): boolean {
  const { repository, tag } = parseImageReference(image);
  const names = [image, `${familiar(repository)}:${tag}`, ...(tag === "latest" ? [familiar(repository)] : [])];
  return listed.some((entry) =>
    entry.endsWith("*") ? names.some((name) => name.startsWith(entry.slice(0, -1))) : names.includes(entry),
  );
}

/**
 * True when an image that is on the host came from the registry in its name. An image that the host's owner built or loaded
 * never did, under any name; nor did an image that is named by its id.
 */
export function isFromRegistry(image: string, { repositories }: Pick<ImageFacts, "repositories">): boolean {
  const repository = familiar(parseImageReference(image).repository);
  return repositories === null || repositories.some((known) => familiar(known) === repository);
}

/** One name for all forms of a repository of Docker Hub. */
function familiar(repository: string): string {
  return repository.replace(/^(?:index\.)?docker\.io\//, "").replace(/^library\//, "");
}
