// Requests that began before the code of the console had come (console/early/script.js).

declare global {
  var berthEarly: Map<string, Promise<Response>> | undefined;
}

/** The answer to a request that has begun already, once; undefined when there is none. */
export function takeEarly(input: Parameters<typeof fetch>[0], method = "GET"): Promise<Response> | undefined {
  const early = globalThis.berthEarly;
  if (early === undefined || method !== "GET") return undefined;
  const { origin, pathname, search } = new URL(input instanceof Request ? input.url : input, globalThis.location.href);
  if (origin !== globalThis.location.origin) return undefined;
  const answer = early.get(pathname + search);
  early.delete(pathname + search);
  return answer;
}
