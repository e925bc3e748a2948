import { createHash, randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { join as joinPath, resolve } from "node:path";
import { parseServerUrl, type ServerUrls } from "../../../protocol/index.ts";
import type { Clock } from "../base/clock.ts";
import { credentialPath, loadCredential } from "./credential.ts";
import { fingerprintOf, readFingerprintFacts } from "../machine/fingerprint.ts";
import { join } from "./join.ts";
import type { Options } from "../options.ts";
import { fileProof, noProof, type ProofStore } from "./proof.ts";
import { isOpenLine } from "./server-url.ts";
import { KnownServers } from "./servers.ts";
import { fileServers } from "./servers-store.ts";

/** As whom this agent connects. */
export type Membership = {
  /** The servers it connects to, and what it shows them. */
  readonly servers: KnownServers;
  /** Of the one host, or what the names of simulated ones begin with. */
  readonly host_key: string;
  readonly fingerprint: string;
  readonly proofOf: (host_key: string, onFailure: (cause: unknown) => void) => ProofStore;
};

export type Found =
  | { readonly ok: true; readonly membership: Membership }
  | { readonly ok: false; readonly problem: string };

export type MembershipInput = {
  readonly options: Options;
  readonly clock: Clock;
  /** Lines for a person. */
  readonly tell: (line: string) => void;
};

/**
 * Finds out as whom to connect: with the token that a server gave to its own agent, with the credential that an earlier
 * start has stored, or by joining now.
 */
export async function findMembership({ options, clock, tell }: MembershipInput): Promise<Found> {
  const { state_dir, urls, join_token } = options;
  const facts = readFingerprintFacts({ root: "/", is_root: options.simulate === 0 });
  const fingerprint = fingerprintOf(facts);
  const default_key = defaultHostKey(options, facts.machine_id || facts.hostname);
  if (options.token !== undefined) {
    const host_key = options.host_key ?? default_key;
    // It ends with the server that started it, so no other one is of use to it.
    const servers = new KnownServers({ home: urls, token: options.token });
    return { ok: true, membership: { servers, host_key, fingerprint, proofOf: () => noProof } };
  }
  const serversFrom = (home: ServerUrls, token: string) => {
    const given = [urls, ...options.further_urls].filter(({ api_url }) => api_url !== home.api_url);
    const onFailure = (cause: unknown) => tell(`the addresses of the servers cannot be stored: ${String(cause)}`);
    const store = fileServers(joinPath(state_dir, "servers.json"), onFailure);
    return new KnownServers({ home, token, given: options.has_server ? given : [], store });
  };
  const proofOf = (host_key: string, onFailure: (cause: unknown) => void) =>
    fileProof(joinPath(state_dir, `proof-${host_key}`), onFailure);
  const stored = loadCredential(state_dir);
  if (stored !== undefined && "problem" in stored) return { ok: false, problem: stored.problem };
  const path = credentialPath(state_dir);
  const isOfServer = stored !== undefined && isAsked(options, stored.server);
  if (stored !== undefined && (isOfServer || join_token === undefined)) {
    const mismatch = mismatchOf(options, stored);
    if (mismatch !== undefined) return { ok: false, problem: `${mismatch} (${path})` };
    if (join_token !== undefined) {
      tell(`this machine has joined ${stored.server} already; the token is not used (to join anew, remove ${path})`);
    }
    const { credential: token, host_key } = stored;
    const servers = serversFrom(parseServerUrl(stored.server) ?? urls, token);
    return { ok: true, membership: { servers, host_key, fingerprint, proofOf } };
  }
  if (join_token === undefined) {
    const how = "give --token with a join token, which `berth host token create` makes on the server";
    return { ok: false, problem: `this machine has not joined ${urls.api_url}: ${how}` };
  }
  if (isOpenLine(urls))
    tell(`${urls.api_url} is not encrypted: use it on a network that you trust, or put TLS before it`);
  const newNonce = () => randomBytes(32).toString("base64url");
  const host_key = options.host_key ?? default_key;
  const parts = { clock, urls, state_dir, host_key, fingerprint, hostname: hostname(), newNonce, fetch };
  const joined = await join({ ...parts, token: join_token });
  if (!joined.ok) return joined;
  tell(`this machine has joined ${urls.api_url}; its credential is in ${path}`);
  const servers = serversFrom(urls, joined.credential.credential);
  return { ok: true, membership: { servers, host_key, fingerprint, proofOf } };
}

/** Whether a server is one of those that were named, where any was. */
function isAsked({ has_server, urls, further_urls }: Options, server: string): boolean {
  return !has_server || [urls, ...further_urls].some(({ api_url }) => api_url === server);
}

/** What was asked for and is not what this machine joined as. */
function mismatchOf(
  options: Options,
  stored: { readonly server: string; readonly host_key: string },
): string | undefined {
  const { urls, host_key } = options;
  if (!isAsked(options, stored.server)) {
    return `this machine has joined ${stored.server}: give --token to join ${urls.api_url} instead`;
  }
  if (host_key !== undefined && host_key !== stored.host_key) {
    return `this machine has joined as ${stored.host_key}: leave --host-key out`;
  }
  return undefined;
}

/** The same for one machine and one state folder; two folders on one machine are two hosts, never each other's. */
function defaultHostKey(options: Options, machine: string): string {
  const digest = createHash("sha256")
    .update(`${machine}\n${resolve(options.state_dir)}`)
    .digest("hex");
  return `${options.simulate > 0 ? "simulated" : "machine"}-${digest.slice(0, 16)}`;
}
