import * as oidc from "openid-client";
import type { Clock } from "../../../../base/clock.ts";
import { AppError } from "../../../../base/errors.ts";
import { codeOf, pin, requestPinned, type Outside, type Resolve } from "../../../../base/pinned-request.ts";
import { ssoProblem, type SsoProblem } from "./problems.ts";
import { readPerson, type Claims, type IssuedPerson } from "./rules/claims.ts";
import { flowSecrets, type FlowSecrets } from "./rules/flow-secrets.ts";
import type { SsoSettings } from "./settings.ts";

/** All calls of one step of a sign-in together. */
export const ISSUER_TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 262_144;
/** Metadata of the issuer that are older than this are read again. */
const METADATA_MS = 10 * 60_000;
const REDIRECTS = 300;
/** Errors within errors that are looked at. */
const CAUSES_MAX = 5;
const WITHOUT_BODY = new Set([204, 205, 304]);

export type IssuerClient = {
  /** The address of the issuer to which a browser goes to sign in. */
  authorizationUrl(secrets: FlowSecrets, redirectUri: string): Promise<URL>;
  /** The person behind an answer of the issuer. Throws the problem for an answer that does not hold. */
  personOf(answer: {
    readonly cookie: string;
    readonly redirectUri: string;
    readonly query: string;
  }): Promise<IssuedPerson>;
};

/** A client for the issuer of the settings. It reaches public addresses only, unless the settings allow others. */
export function createIssuerClient(
  settings: SsoSettings,
  { clock, resolve }: { readonly clock: Clock; readonly resolve: Resolve },
): IssuerClient {
  const outside: Outside = { resolve, isPrivateAllowed: settings.isPrivateAllowed };
  let known: { readonly config: oidc.Configuration; readonly readAtMs: number } | undefined;
  let underWay: Promise<oidc.Configuration> | undefined;

  const within = async <Value>(work: (signal: AbortSignal) => Promise<Value>): Promise<Value> => {
    const over = new AbortController();
    void clock.sleep(ISSUER_TIMEOUT_MS, over.signal).then(() => over.abort());
    try {
      return await work(over.signal);
    } catch (error) {
      throw over.signal.aborted ? ssoProblem("sso_unreachable", error) : error;
    } finally {
      over.abort();
    }
  };

  const configuration = async (): Promise<oidc.Configuration> => {
    if (known !== undefined && clock.monotonicMs() - known.readAtMs < METADATA_MS) return known.config;
    underWay ??= within((signal) => discover(settings, outside, signal)).finally(() => (underWay = undefined));
    const config = await underWay;
    known = { config, readAtMs: clock.monotonicMs() };
    return config;
  };

  return {
    async authorizationUrl({ state, nonce, codeVerifier }, redirectUri) {
      const config = await configuration();
      const parameters = {
        ...{ redirect_uri: redirectUri, scope: settings.scopes, state, nonce },
        code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: "S256",
      };
      return oidc.buildAuthorizationUrl(config, parameters);
    },
    async personOf({ cookie, redirectUri, query }) {
      const config = await configuration();
      return within(async (signal) => {
        const asking = copyOf(config, settings, pinnedFetch(outside, signal));
        const { state, nonce, codeVerifier } = flowSecrets(cookie);
        const answered = new URL(`${redirectUri}?${query}`);
        const checks = {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        };
        const tokens = await oidc.authorizationCodeGrant(asking, answered, checks).catch(rethrow);
        const token: Claims = tokens.claims() ?? {};
        keepKeys(asking, config);
        const more = await askMore(asking, tokens.access_token, token, settings).catch(rethrow);
        const person = readPerson(token, more, settings.groupsClaim);
        if (person === undefined) throw ssoProblem("sso_untrusted", "the token names nobody");
        return person;
      });
    },
  };
}

async function discover(settings: SsoSettings, outside: Outside, signal: AbortSignal): Promise<oidc.Configuration> {
  const { issuer, clientId, isPrivateAllowed } = settings;
  const fetch = pinnedFetch(outside, signal);
  const execute = isPrivateAllowed ? [oidc.allowInsecureRequests] : [];
  try {
    const config = await oidc.discovery(issuer, clientId, {}, oidc.None(), { [oidc.customFetch]: fetch, execute });
    requireSignInPage(config.serverMetadata(), settings);
    return config;
  } catch (error) {
    throw ownErrorIn(error) ?? ssoProblem("sso_misconfigured", error);
  }
}

/** Throws for an issuer that names no page to sign in at: a browser would follow any address, that of a script as well. */
function requireSignInPage(
  { authorization_endpoint: page = "" }: oidc.ServerMetadata,
  { isPrivateAllowed }: SsoSettings,
): void {
  const protocol = URL.parse(page)?.protocol;
  if (protocol === "https:" || (protocol === "http:" && isPrivateAllowed)) return;
  throw ssoProblem("sso_misconfigured", `the issuer names "${page}" as its page to sign in at`);
}

/** A configuration for one sign-in, whose requests end with it. It takes the issuer's name as it stands, as the tokens must. */
function copyOf(
  config: oidc.Configuration,
  { clientId, clientSecret, isPrivateAllowed }: SsoSettings,
  fetch: oidc.CustomFetch,
): oidc.Configuration {
  const metadata = config.serverMetadata();
  const copy = new oidc.Configuration(metadata, clientId, {}, authenticationOf(metadata, clientSecret));
  copy[oidc.customFetch] = fetch;
  // Without this the library takes the word of the connection for the token, and looks at no signature.
  oidc.enableNonRepudiationChecks(copy);
  if (isPrivateAllowed) oidc.allowInsecureRequests(copy);
  keepKeys(config, copy);
  return copy;
}

/** The issuer's public keys go on from one sign-in to the next. */
function keepKeys(from: oidc.Configuration, to: oidc.Configuration): void {
  const keys = oidc.getJwksCache(from);
  if (keys !== undefined) oidc.setJwksCache(to, keys);
}

/** Each issuer takes the secret in a header unless it says otherwise (OpenID Connect Discovery, section 3). */
function authenticationOf(
  { token_endpoint_auth_methods_supported: methods = ["client_secret_basic"] }: oidc.ServerMetadata,
  clientSecret: string | undefined,
): oidc.ClientAuth {
  if (clientSecret === undefined) return oidc.None();
  const isByBody = !methods.includes("client_secret_basic") && methods.includes("client_secret_post");
  return isByBody ? oidc.ClientSecretPost(clientSecret) : oidc.ClientSecretBasic(clientSecret);
}

/** Claims that the issuer keeps apart from the token, where the token lacks the address or the groups. */
async function askMore(
  config: oidc.Configuration,
  accessToken: string,
  token: Claims,
  { groupsClaim, groupRoles }: SsoSettings,
): Promise<Claims> {
  const lacksGroups = groupRoles.size > 0 && token[groupsClaim] === undefined;
  const isComplete = typeof token["email"] === "string" && !lacksGroups;
  if (isComplete || config.serverMetadata().userinfo_endpoint === undefined) return {};
  return { ...(await oidc.fetchUserInfo(config, accessToken, String(token["sub"]))) };
}

/** Requests of the library by the pinned way: no redirect is followed, and no answer is larger than it may be. */
function pinnedFetch(outside: Outside, signal: AbortSignal): oidc.CustomFetch {
  return async (address, { method, headers, body }) => {
    const url = new URL(address);
    const sent = bodyOf(body);
    const answer = await ask(url, outside, {
      method: method === "POST" ? "POST" : "GET",
      headers: { ...headers, ...(sent === undefined ? {} : { "content-length": String(sent.byteLength) }) },
      ...(sent === undefined ? {} : { body: sent }),
      bytesMax: ANSWER_BYTES_MAX,
      signal,
    });
    if (answer.ending !== "whole") throw ssoProblem("sso_unreachable", `${url.host}: its answer is ${answer.ending}`);
    if (answer.status >= REDIRECTS && answer.status < 400 && answer.status !== 304) {
      throw ssoProblem("sso_misconfigured", `${address} redirects, which is not followed`);
    }
    if (answer.status >= 500) throw ssoProblem("sso_unreachable", `${address} answered ${answer.status}`);
    const type = answer.headers["content-type"];
    return new Response(WITHOUT_BODY.has(answer.status) ? null : new Uint8Array(answer.body), {
      status: answer.status,
      headers: {
        ...(type === undefined ? {} : { "content-type": type }),
        ...headerOf(answer.headers["www-authenticate"]),
      },
    });
  };
}

const headerOf = (challenge: string | undefined) => (challenge === undefined ? {} : { "www-authenticate": challenge });

async function ask(url: URL, outside: Outside, request: Parameters<typeof requestPinned>[2]) {
  try {
    const pinned = await pin(url, outside, request.signal);
    if (pinned.kind === "private") {
      throw ssoProblem("sso_misconfigured", `${url.host} is on a private network: see BERTH_OIDC_ALLOW_PRIVATE`);
    }
    if (pinned.kind === "unknown") throw ssoProblem("sso_unreachable", `${url.host} has no address`);
    return await requestPinned(url, pinned, request);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw ssoProblem("sso_unreachable", `${url.host} could not be reached (${codeOf(error)})`);
  }
}

function bodyOf(body: oidc.FetchBody): Buffer | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string" || body instanceof URLSearchParams) return Buffer.from(String(body));
  throw ssoProblem("sso_failed", "the library sends a body of an unknown form");
}

/** Turns what the library throws into the problem that it is. */
function rethrow(error: unknown): never {
  throw ownErrorIn(error) ?? ssoProblem(problemIn(error), error);
}

/** The problem that a request of ours met, which the library may have wrapped. */
function ownErrorIn(error: unknown): AppError | undefined {
  let inner = error;
  for (let depth = 0; depth < CAUSES_MAX; depth += 1) {
    if (inner instanceof AppError) return inner;
    inner = inner instanceof Error ? inner.cause : undefined;
  }
  return undefined;
}

function problemIn(error: unknown): SsoProblem {
  if (error instanceof oidc.AuthorizationResponseError) return "sso_denied";
  if (error instanceof oidc.ResponseBodyError) {
    // The code or the verifier is wrong in one case, and the settings of this server in all others.
    return error.error === "invalid_grant" ? "sso_over" : "sso_misconfigured";
  }
  return "sso_untrusted";
}
