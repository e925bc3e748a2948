export type ImageReference = {
  /** Everything before the tag or digest, registry included. */
  readonly repository: string;
  /** A tag, or a digest such as `sha256:…`. */
  readonly tag: string;
};

/** Splits `[registry[:port]/]repository[:tag][@digest]`; a missing tag is `latest`, and a digest outweighs a tag. */
export function parseImageReference(image: string): ImageReference {
  const at = image.indexOf("@");
  const named = at === -1 ? image : image.slice(0, at);
  const colon = named.lastIndexOf(":");
  // A colon before the last slash belongs to the registry's port.
  const hasTag = colon > named.lastIndexOf("/");
  const repository = hasTag ? named.slice(0, colon) : named;
  if (at !== -1) return { repository, tag: image.slice(at + 1) };
  return { repository, tag: hasTag ? named.slice(colon + 1) : "latest" };
}
