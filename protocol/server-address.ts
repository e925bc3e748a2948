/** Addresses of the control plane. */
export type ServerUrls = {
  /** Address for requests, without a slash at the end. */
  readonly apiUrl: string;
  /** Address for the agent's WebSocket. */
  readonly socketUrl: string;
};

const SCHEMES: Readonly<Record<string, { readonly http: string; readonly socket: string }>> = {
  "http:": { http: "http:", socket: "ws:" },
  "ws:": { http: "http:", socket: "ws:" },
  "https:": { http: "https:", socket: "wss:" },
  "wss:": { http: "https:", socket: "wss:" },
};

/** Reads an address of the control plane, with or without `/agent` at its end. Undefined when it is none. */
export function parseServerUrl(text: string): ServerUrls | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, host, pathname, search, hash, username, password } = new URL(text);
  const scheme = SCHEMES[protocol];
  if (scheme === undefined || host === "" || `${search}${hash}${username}${password}` !== "") return undefined;
  const path = pathname.replace(/\/+$/, "").replace(/\/agent$/, "");
  return { apiUrl: `${scheme.http}//${host}${path}`, socketUrl: `${scheme.socket}//${host}${path}/agent` };
}
