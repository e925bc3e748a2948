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
import { isUnencrypted } from "./server-url.ts";
import { KnownServers } from "./servers.ts";
import { fileServers } from "./servers-store.ts";

/** The servers and the name with which this agent connects. */
export type Membership = {
  /** The servers it connects to, and what it shows them. */
  readonly servers: KnownServers;
  /** The name of the one host, or the beginning of the names of simulated ones. */
  readonly hostKey: string;
  readonly fingerprint: string;
  readonly proofOf: (hostKey: string, onFailure: (cause: unknown) => void) => ProofStore;
};

export type Found =
  | { readonly ok: true; readonly membership: Membership }
  | { readonly ok: false; readonly problem: string };

export type MembershipInput = {
  readonly options: Options;
  readonly clock: Clock;
  /** Prints a line for a person. */
  readonly tell: (line: string) => void;
};

/**
 * Finds out as whom to connect: with the token that a server gave to its own agent, with the credential that an earlier
 * start has stored, or by joining now.
 */
export async function findMembership({ options, clock, tell }: MembershipInput): Promise<Found> {
  const { stateDir, urls, joinToken } = options;
  const facts = readFingerprintFacts({ root: "/", isRoot: options.simulate === 0 });
  const fingerprint = fingerprintOf(facts);
  const defaultKey = defaultHostKey(options, facts.machineId || facts.hostname);
  if (options.token !== undefined) {
    const hostKey = options.hostKey ?? defaultKey;
    // This agent ends with the server that started it, so it needs no other one.
    const servers = new KnownServers({ home: urls, token: options.token });
    return { ok: true, membership: { servers, hostKey, fingerprint, proofOf: () => noProof } };
  }
  const serversFrom = (home: ServerUrls, token: string) => {
    const given = [urls, ...options.furtherUrls].filter(({ apiUrl }) => apiUrl !== home.apiUrl);
    const onFailure = (cause: unknown) => tell(`the addresses of the servers cannot be stored: ${String(cause)}`);
    const store = fileServers(joinPath(stateDir, "servers.json"), onFailure);
    return new KnownServers({ home, token, given: options.hasServer ? given : [], store });
  };
  const proofOf = (hostKey: string, onFailure: (cause: unknown) => void) =>
    fileProof(joinPath(stateDir, `proof-${hostKey}`), onFailure);
  const stored = loadCredential(stateDir);
  if (stored !== undefined && "problem" in stored) return { ok: false, problem: stored.problem };
  const path = credentialPath(stateDir);
  const isOfServer = stored !== undefined && isAsked(options, stored.server);
  if (stored !== undefined && (isOfServer || joinToken === undefined)) {
    const mismatch = mismatchOf(options, stored);
    if (mismatch !== undefined) return { ok: false, problem: `${mismatch} (${path})` };
    if (joinToken !== undefined) {
      tell(`this machine has joined ${stored.server} already; the token is not used (to join again, remove ${path})`);
    }
    const { credential: token, hostKey } = stored;
    const servers = serversFrom(parseServerUrl(stored.server) ?? urls, token);
    return { ok: true, membership: { servers, hostKey, fingerprint, proofOf } };
  }
  if (joinToken === undefined) {
    const how = "give --token with a join token, which `berth host token create` makes on the server";
    return { ok: false, problem: `this machine has not joined ${urls.apiUrl}: ${how}` };
  }
  if (isUnencrypted(urls))
    tell(`${urls.apiUrl} is not encrypted: use it on a network that you trust, or put TLS before it`);
  const newNonce = () => randomBytes(32).toString("base64url");
  const hostKey = options.hostKey ?? defaultKey;
  const parts = { clock, urls, stateDir, hostKey, fingerprint, hostname: hostname(), newNonce, fetch };
  const joined = await join({ ...parts, token: joinToken });
  if (!joined.ok) return joined;
  tell(`this machine has joined ${urls.apiUrl}; its credential is in ${path}`);
  const servers = serversFrom(urls, joined.credential.credential);
  return { ok: true, membership: { servers, hostKey, fingerprint, proofOf } };
}

/** True for a server that the options name, and for any server when they name none. */
function isAsked({ hasServer, urls, furtherUrls }: Options, server: string): boolean {
  return !hasServer || [urls, ...furtherUrls].some(({ apiUrl }) => apiUrl === server);
}

/** A sentence on an option that contradicts the stored credential; undefined when none does. */
function mismatchOf(
  options: Options,
  stored: { readonly server: string; readonly hostKey: string },
): string | undefined {
  const { urls, hostKey } = options;
  if (!isAsked(options, stored.server)) {
    return `this machine has joined ${stored.server}: give --token to join ${urls.apiUrl} instead`;
  }
  if (hostKey !== undefined && hostKey !== stored.hostKey) {
    return `this machine has joined as ${stored.hostKey}: leave --host-key out`;
  }
  return undefined;
}

/** A name for one machine and one state folder; two folders on one machine are two hosts. */
function defaultHostKey(options: Options, machine: string): string {
  const digest = createHash("sha256")
    .update(`${machine}\n${resolve(options.stateDir)}`)
    .digest("hex");
  return `${options.simulate > 0 ? "simulated" : "machine"}-${digest.slice(0, 16)}`;
}
