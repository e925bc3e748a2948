import type { ServerUrls } from "../../../protocol/index.ts";

/** True for a connection without encryption to another machine: others can read and change it. */
export function isUnencrypted({ apiUrl }: ServerUrls): boolean {
  const { protocol, hostname } = new URL(apiUrl);
  return protocol === "http:" && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}
