import type { FastifyRequest } from "fastify";

/**
 * The address at which the caller reached this server, such as `https://berth.example.com`: the beginning of addresses
 * in answers. The word of a proxy for it counts only where proxies are trusted, which the framework checks.
 */
export function originOf(request: FastifyRequest): string {
  const named = `${request.protocol}://${request.host}`;
  const url = URL.parse(named);
  // A caller may send any text as Host, or none; it then gets the address that its connection has.
  const isOrigin = url !== null && url.pathname === "/" && url.username === "" && url.search === "" && url.hash === "";
  if (isOrigin && url.host !== "") return url.origin;
  const { localAddress = "127.0.0.1", localPort = 80 } = request.socket;
  return `http://${localAddress.includes(":") ? `[${localAddress}]` : localAddress}:${localPort}`;
}
