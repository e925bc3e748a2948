// A stand-in for a container registry: the questions of the registry API that the server asks, on the loopback.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

export type FakeRegistryOptions = {
  /** Tags by repository. */
  readonly tags?: Readonly<Record<string, readonly string[]>>;
  /** The login that is needed, and the way to present it: at the registry, or for a token. */
  readonly login?: { readonly username: string; readonly token: string; readonly kind: "basic" | "bearer" };
  /** Answers a request instead; true when it did. */
  readonly instead?: (request: IncomingMessage, answer: ServerResponse) => boolean;
};

export type FakeRegistry = {
  /** `127.0.0.1` and the port. */
  readonly address: string;
  /** All requests, with the header that holds the login. */
  readonly asked: readonly { readonly path: string; readonly authorization: string | undefined }[];
  close(): Promise<void>;
};

const TOKEN = "registry-token";

/** A registry that gives its tags two at a time. */
export async function startFakeRegistry({
  tags = {},
  login,
  instead,
}: FakeRegistryOptions = {}): Promise<FakeRegistry> {
  const asked: { path: string; authorization: string | undefined }[] = [];
  const server = createServer((request, answer) => {
    const { url = "/", headers } = request;
    const { authorization } = headers;
    asked.push({ path: url, authorization });
    if (instead?.(request, answer) === true) return;
    const { pathname, searchParams } = new URL(url, "http://registry/");
    const send = (status: number, body: unknown, more: Readonly<Record<string, string>> = {}) => {
      answer.writeHead(status, { "content-type": "application/json", ...more });
      answer.end(JSON.stringify(body));
    };
    const basic = login && `Basic ${Buffer.from(`${login.username}:${login.token}`).toString("base64")}`;
    if (pathname === "/token") {
      return authorization === basic ? send(200, { token: TOKEN }) : send(401, {});
    }
    const wanted = login?.kind === "bearer" ? `Bearer ${TOKEN}` : basic;
    if (wanted !== undefined && authorization !== wanted) {
      const challenge =
        login?.kind === "bearer"
          ? `Bearer realm="http://${addressOf(server)}/token",service="registry",scope="repository:app:pull"`
          : 'Basic realm="registry"';
      return send(401, {}, { "www-authenticate": challenge });
    }
    if (pathname === "/v2/") return send(200, {});
    if (pathname === "/v2/_catalog") return send(200, { repositories: Object.keys(tags) });
    const repository = /^\/v2\/(.+)\/tags\/list$/.exec(pathname)?.[1] ?? "";
    const all = tags[repository];
    if (all === undefined) return send(404, { errors: [{ code: "NAME_UNKNOWN" }] });
    const start = Number(searchParams.get("last") ?? 0);
    const link = start + 2 < all.length ? { link: `<${pathname}?last=${start + 2}>; rel="next"` } : {};
    return send(200, { name: repository, tags: all.slice(start, start + 2) }, link);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    address: addressOf(server),
    asked,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

function addressOf(server: ReturnType<typeof createServer>): string {
  const address = server.address();
  return `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}
