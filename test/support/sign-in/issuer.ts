import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import Provider from "oidc-provider";
import type { SsoSettings } from "../../../server/src/domains/people/sign-in/index.ts";
import { NO_PAYMENTS } from "../../../server/src/domains/money/payments/for-assembly.ts";
import type { TestApp } from "../app.ts";
import { closing } from "./closing.ts";

/** The address at which browsers reach all servers of a test. */
export const PUBLIC_URL = "https://gpu.example";
export const AT_PUBLIC_URL = { payments: { ...NO_PAYMENTS, publicUrl: PUBLIC_URL } };
const START = "/api/v0/auth/sso/start/";
const [CLIENT_ID, CLIENT_SECRET] = ["berth", "a-secret-of-the-client"];
const HOPS_MAX = 20;

/** Claims of the issuer about a person. */
export type IssuerPerson = {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly preferred_username?: string;
  readonly groups?: readonly string[];
};

export type TestIssuer = {
  readonly settings: SsoSettings;
  /** People by their subject; a test changes them as an operator of the issuer does. */
  readonly people: Map<string, IssuerPerson>;
};

/** A real issuer on this machine, with pages to log in. */
export async function anIssuer(
  t: Pick<TestContext, "after">,
  more: Partial<SsoSettings> = {},
  {
    isPublicClient = false,
    publicUrl = PUBLIC_URL,
  }: { readonly isPublicClient?: boolean; readonly publicUrl?: string } = {},
): Promise<TestIssuer> {
  const people = new Map<string, IssuerPerson>();
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing(t, server);
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const authentication = isPublicClient
    ? { token_endpoint_auth_method: "none" as const }
    : { client_secret: CLIENT_SECRET };
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT_ID, redirect_uris: [`${publicUrl}/api/v0/auth/sso/callback/`], ...authentication }],
    findAccount: (_context, accountId) => ({
      accountId,
      claims: async () => ({ sub: accountId, ...people.get(accountId) }),
    }),
    claims: { email: ["email", "email_verified"], profile: ["name", "preferred_username"], groups: ["groups"] },
    cookies: { keys: ["a key of the cookies"] },
  });
  const handle = provider.callback();
  return {
    people,
    settings: {
      issuer: new URL(issuer),
      clientId: CLIENT_ID,
      clientSecret: isPublicClient ? undefined : CLIENT_SECRET,
      name: "Example Corp",
      scopes: "openid profile email groups",
      groupsClaim: "groups",
      groupRoles: new Map(),
      isPrivateAllowed: true,
      ...more,
    },
  };
}

/** A browser: it keeps cookies by site, and follows redirects and forms. */
export class TestBrowser {
  readonly #cookies = new Map<string, Map<string, string>>();

  /** The cookies for a site, as a browser sends them. */
  cookiesFor(site: string): string {
    return [...(this.#cookies.get(site) ?? [])].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  keep(site: string, lines: readonly string[]): void {
    const kept = this.#cookies.get(site) ?? new Map<string, string>();
    this.#cookies.set(site, kept);
    for (const line of lines) {
      const [pair = ""] = line.split(";");
      const [name = "", ...rest] = pair.split("=");
      if (/max-age=0|expires=thu, 01 jan 1970/i.test(line)) kept.delete(name);
      else kept.set(name, rest.join("="));
    }
  }

  /** A page of Berth, whose servers all stand behind one address. */
  async berth(app: Pick<TestApp, "call">, url: string) {
    const answer = await app.call({ url, headers: { cookie: this.cookiesFor(PUBLIC_URL) } });
    const given = answer.headers["set-cookie"];
    this.keep(PUBLIC_URL, Array.isArray(given) ? given.map(String) : given === undefined ? [] : [String(given)]);
    return { ...answer, location: String(answer.headers["location"] ?? "") };
  }

  /** Goes from the start at Berth through the pages of the issuer, up to the address at which it comes back. */
  async logIn(app: Pick<TestApp, "call">, login: string): Promise<URL> {
    const start = await this.berth(app, START);
    assert.equal(start.status, 302, start.text);
    assert.ok(start.location.startsWith("http"), start.location);
    return this.atIssuer(new URL(start.location), login);
  }

  /** Goes through the pages of the issuer as this person. */
  async atIssuer(first: URL, login: string): Promise<URL> {
    let [url, body]: [URL, URLSearchParams | undefined] = [first, undefined];
    for (let hop = 0; hop < HOPS_MAX; hop += 1) {
      const answer = await fetch(url, {
        redirect: "manual",
        headers: { cookie: this.cookiesFor(url.origin) },
        ...(body === undefined ? {} : { method: "POST", body }),
      });
      this.keep(url.origin, answer.headers.getSetCookie());
      const text = await answer.text();
      const location = answer.headers.get("location");
      if (location !== null) {
        [url, body] = [new URL(location, url), undefined];
        if (url.origin === PUBLIC_URL) return url;
        continue;
      }
      const action = /action="([^"]+)"/.exec(text)?.[1];
      assert.ok(action !== undefined, `${answer.status} ${text}`);
      const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1] ?? "";
      [url, body] = [new URL(action, url), new URLSearchParams({ prompt, login, password: "any" })];
    }
    throw new Error("the issuer sends the browser round and round");
  }

  /** Signs in from start to end, and returns the page at which it ends. */
  async signIn(app: Pick<TestApp, "call">, login: string): Promise<string> {
    const back = await this.logIn(app, login);
    const end = await this.berth(app, `${back.pathname}${back.search}`);
    assert.equal(end.status, 302, end.text);
    return end.location;
  }

  /** The record of the account that the browser is signed in to. */
  async account(app: Pick<TestApp, "call">) {
    const answer = await app.call({ url: "/api/v0/users/current/", headers: { cookie: this.cookiesFor(PUBLIC_URL) } });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }
}
