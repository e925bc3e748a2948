import { generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import type { SsoSettings } from "../../../server/src/domains/people/sign-in/index.ts";
import { closing } from "./closing.ts";

type Json = Readonly<Record<string, unknown>>;

/** An issuer that says what a test has it say. */
export type LyingIssuer = {
  readonly url: string;
  readonly settings: SsoSettings;
  /** Changes to the token, to what the issuer says of itself, and to whole answers by path. */
  claims: Json;
  metadata: Json;
  signedBy: KeyObject | undefined;
  answer: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** The nonce of the sign-in that the issuer answers. */
  nonce: string;
};

const SECONDS = 1000;
const KEY_ID = "key";

/** A key of which the issuer's public list says nothing. */
export const anotherKey = (): KeyObject => generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;

export async function aLyingIssuer(t: Pick<TestContext, "after">): Promise<LyingIssuer> {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const server = createServer((request, response) => {
    request.resume();
    if (issuer.answer?.(request, response) === true) return;
    const path = request.url?.split("?", 1)[0] ?? "";
    if (path.endsWith("/openid-configuration"))
      return send(response, { ...metadataOf(issuer.url), ...issuer.metadata });
    if (path === "/jwks") return send(response, { keys: [{ ...publicKey.export({ format: "jwk" }), kid: KEY_ID }] });
    if (path === "/token") return send(response, tokensOf(issuer, issuer.signedBy ?? privateKey));
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing(t, server);
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const settings: SsoSettings = {
    issuer: new URL(url),
    clientId: "berth",
    clientSecret: "secret",
    name: "Example Corp",
    scopes: "openid email",
    groupsClaim: "groups",
    groupRoles: new Map(),
    isPrivateAllowed: true,
  };
  const issuer: LyingIssuer = {
    ...{ url, settings, claims: {}, metadata: {}, nonce: "" },
    ...{ signedBy: undefined, answer: undefined },
  };
  return issuer;
}

function metadataOf(url: string): Json {
  return {
    issuer: url,
    authorization_endpoint: `${url}/auth`,
    token_endpoint: `${url}/token`,
    jwks_uri: `${url}/jwks`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
  };
}

function tokensOf({ url, claims, nonce }: LyingIssuer, key: KeyObject): Json {
  const now = Math.floor(Date.now() / SECONDS);
  const all = {
    ...{ iss: url, aud: "berth", sub: "somebody", nonce, iat: now, exp: now + 300, email: "somebody@corp.example" },
    ...claims,
  };
  const part = (value: Json) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "RS256", kid: KEY_ID })}.${part(all)}`;
  const signature = sign("sha256", Buffer.from(signed), key).toString("base64url");
  return { access_token: "token", token_type: "Bearer", expires_in: 300, id_token: `${signed}.${signature}` };
}

function send(response: ServerResponse, value: Json): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}
