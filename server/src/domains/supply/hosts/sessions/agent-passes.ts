import { createHmac, timingSafeEqual } from "node:crypto";
import { passText, proofText, readPass, type ServerList } from "../../../../../../protocol/index.ts";
import { asId, type AgentCredentialId } from "../../../../base/ids.ts";
import type { FoundCredential } from "../store.ts";

/** Who knocks, and what this server answers to the challenge of an agent that shows a pass. */
export type Admitted = FoundCredential & { readonly proof?: string | undefined };

/** The addresses of the servers, as agents are told them. */
export type PublishedAddresses = {
  /** Addresses of this server: it takes passes for these and no others. */
  readonly own: () => readonly string[];
  /** Of all servers that live; the same list until that changes. */
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
 * Tells agents that joined where all servers are, and knows them again by their passes. The key of a pass is made of the
 * server's secret and of the hash of the credential: a copy of the database opens nothing, and a new credential has new ones.
 */
export class AgentPasses {
  private readonly deps: Deps;

  constructor(deps: Deps) {
    this.deps = deps;
  }

  /** Finds out by a credential or a pass who knocks. A pass for an address that is none of this server's is nobody's. */
  async authenticate(token: string, challenge: string | undefined): Promise<Admitted | undefined> {
    const pass = readPass(token);
    if (pass === undefined) return this.deps.findByToken(token);
    const credential = await this.deps.findById(asId<AgentCredentialId>(pass.credentialId));
    if (credential === undefined) return undefined;
    const key = this.keyOf(credential);
    const address = this.deps.addresses.own().find((own) => isSame(pass.seal, sealOf(key, passText(own))));
    if (address === undefined) return undefined;
    const text = challenge === undefined ? undefined : proofText(address, challenge);
    return { ...credential, proof: text && sealOf(key, text) };
  }

  /** Servers that a machine is told at its welcome; undefined for agents that servers start themselves, which end with them. */
  serversFor(credential: FoundCredential): ServerList | undefined {
    const addresses = this.deps.addresses.all();
    if (credential.joiner === undefined || addresses.length === 0) return undefined;
    return { addresses: [...addresses], pass_key: `${credential.id}.${this.keyOf(credential)}` };
  }

  private keyOf({ id, tokenSha256 }: FoundCredential): string {
    return createHmac("sha256", this.deps.secret)
      .update(`berth: passes of agent credential ${id}\n${tokenSha256.toString("hex")}`)
      .digest("base64url");
  }
}

function sealOf(key: string, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

function isSame(shown: string, expected: string): boolean {
  const [one, other] = [Buffer.from(shown), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
