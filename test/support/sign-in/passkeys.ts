import assert from "node:assert/strict";
import type { TestApp } from "../app.ts";
import type { TestAnswer } from "../network/http.ts";
import { PASSWORD, type Person } from "../second-factors.ts";
import { PUBLIC_URL } from "./issuer.ts";
import { SoftPasskey, type Behaviour } from "./soft-authenticator.ts";

/** The site whose passkeys these are. */
export const SITE = { origin: PUBLIC_URL, rpId: new URL(PUBLIC_URL).hostname };
const PATH = "/api/v0/auth/passkeys/";

type App = Pick<TestApp, "call">;
type Method = "GET" | "POST" | "PUT" | "DELETE";

/** A browser with the console open: it keeps cookies, and sends the console's header. */
export class PasskeyBrowser {
  readonly #app: App;
  readonly #cookies = new Map<string, string>();

  constructor(app: App) {
    this.#app = app;
  }

  async send(method: Method, url: string, body?: unknown, text?: string, more: Readonly<Record<string, string>> = {}) {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = {
      ...(cookie === "" ? {} : { cookie }),
      ...(text === undefined ? {} : { "content-type": "application/json" }),
      "x-berth-console": "1",
      ...more,
    };
    const answer = await this.#app.call({
      ...{ method, url, headers },
      ...(text === undefined ? (body === undefined ? {} : { body }) : { text }),
    });
    for (const line of [answer.headers["set-cookie"] ?? []].flat().map(String)) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      this.#cookies.set(name, value);
    }
    return answer;
  }

  /** The body of a request that must succeed. */
  async done(method: Method, url: string, body?: unknown) {
    const answer = await this.send(method, url, body);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  }

  async passwordSignIn({ name }: Pick<Person, "name">, code?: string): Promise<void> {
    const body = await this.done("POST", "/api/v0/auth/browser/", { username: name, password: PASSWORD });
    if (code === undefined) return;
    await this.done("POST", "/api/v0/auth/browser/tfa/", { tfa_method: "totp", code, secret: body.secret });
  }

  /** Options of a sign-in with any passkey. */
  async options() {
    return (await this.done("POST", `${PATH}sign-in/options/`, {})).options;
  }

  verify(response: unknown): Promise<TestAnswer> {
    return this.send("POST", `${PATH}sign-in/verify/`, { response });
  }

  async signIn(passkey: SoftPasskey, behaviour?: Behaviour): Promise<TestAnswer> {
    return this.verify(passkey.get(await this.options(), behaviour));
  }
}

/** Adds a passkey to a person's account, in a browser that is signed in or signs in with the password. */
export async function addPasskey(app: App, person: Pick<Person, "name">, known?: PasskeyBrowser) {
  const browser = known ?? new PasskeyBrowser(app);
  if (known === undefined) await browser.passwordSignIn(person);
  const { options } = await browser.done("POST", `${PATH}options/`);
  const passkey = new SoftPasskey(SITE);
  const added = await browser.done("POST", PATH, { label: "laptop", response: passkey.create(options) });
  return { browser, passkey, id: Number(added.passkey.id) };
}
