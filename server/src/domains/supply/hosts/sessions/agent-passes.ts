import { createHmac, timingSafeEqual } from "node:crypto";
import {
  passText,
  proofText,
  readPass,
  type Hello,
  type ServerList,
  type Welcome,
} from "../../../../../../protocol/index.ts";
import { asId, type AgentCredentialId } from "../../../../base/ids.ts";
import type { Credential, FoundCredential } from "../store.ts";

/** The credential of an agent that connects, and the server's answer to the challenge of an agent that shows a pass. */
export type Admitted = FoundCredential & { readonly proof?: string | undefined };

/** The newer version of the agent that this one may take, for its welcome. */
export type ReleasePort = {
  readonly releaseFor: (credential: Credential, hello: Hello) => Promise<Pick<Welcome, "release" | "release_key">>;
};

/** Names one agent of a credential, since a process may have several. */
export function nameOf({ id }: Credential, { host_key: hostKey }: Hello): string {
  return `${id} ${hostKey}`;
}

/** Addresses of the servers that agents are told. */
export type PublishedAddresses = {
  /** Addresses of this server: it accepts passes for these only. */
  readonly own: () => readonly string[];
  /** Addresses of all live servers; the same array until they change. */
  readonly all: () => readonly string[];
};

type Deps = {
  /** Shared by all servers of the database. */
  readonly secret: Buffer;
  readonly addresses: PublishedAddresses;
  readonly findByToken: (token: string) => Promise<FoundCredential | undefined>;
  readonly findById: (id: AgentCredentialId) => Promise<FoundCredential | undefined>;
};

/**
 * Tells agents that joined the addresses of all servers, and recognises them by their passes. The key of a pass is
 * derived from the server's secret and the hash of the credential: a copy of the database opens nothing, and a new
 * credential has a new key.
 */
export class AgentPasses {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Finds the credential that a token or a pass stands for. A pass for another server's address is invalid. */
  async authenticate(token: string, challenge: string | undefined): Promise<Admitted | undefined> {
    const pass = readPass(token);
    if (pass === undefined) return this.#deps.findByToken(token);
    const credential = await this.#deps.findById(asId<AgentCredentialId>(pass.credentialId));
    if (credential === undefined) return undefined;
    const key = this.#keyOf(credential);
    const address = this.#deps.addresses.own().find((own) => isSame(pass.signature, signatureOf(key, passText(own))));
    if (address === undefined) return undefined;
    const text = challenge === undefined ? undefined : proofText(address, challenge);
    return { ...credential, proof: text && signatureOf(key, text) };
  }

  /**
   * Servers that a machine is told at its welcome; undefined for an agent that a server starts itself, which ends with
   * that server.
   */
  serversFor(credential: FoundCredential): ServerList | undefined {
    const addresses = this.#deps.addresses.all();
    if (credential.joiner === undefined || addresses.length === 0) return undefined;
    return { addresses: [...addresses], pass_key: `${credential.id}.${this.#keyOf(credential)}` };
  }

  #keyOf({ id, tokenSha256 }: FoundCredential): string {
    return createHmac("sha256", this.#deps.secret)
      .update(`berth: passes of agent credential ${id}\n${tokenSha256.toString("hex")}`)
      .digest("base64url");
  }
}

function signatureOf(key: string, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

function isSame(shown: string, expected: string): boolean {
  const [one, other] = [Buffer.from(shown), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
