import type { ServerUrls } from "../../../protocol/index.ts";

/** Whether what is said on the way can be read and changed by others. */
export function isOpenLine({ apiUrl }: ServerUrls): boolean {
  const { protocol, hostname } = new URL(apiUrl);
  return protocol === "http:" && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}
