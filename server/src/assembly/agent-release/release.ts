import { createHash, createPrivateKey, createPublicKey, hkdfSync, sign, type KeyObject } from "node:crypto";
import manifest from "../../../../package.json" with { type: "json" };
import { compareVersions, releaseText, type AgentRelease, type Hello } from "../../../../protocol/index.ts";
import type { AgentCredentialId } from "../../base/ids.ts";
import { bundleAgent } from "./bundle.ts";

/** The head of an Ed25519 private key in PKCS #8 form; its 32 bytes follow. */
const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");
const KEY_BYTES = 32;
const SHARES = 100;

/** The part of a welcome that is about versions of the agent. */
export type ReleaseOffer = { readonly release_key?: string; readonly release?: AgentRelease };

/**
 * The version of the agent that comes with this server, for those whose hosts let it update itself. It is signed with a key
 * that all servers of the database derive from their secret.
 */
export class AgentReleases {
  readonly #key: KeyObject;
  readonly #publicKey: string;
  readonly #percent: number;
  #made: Promise<{ readonly archive: Buffer; readonly release: AgentRelease }> | undefined;

  constructor({ secret, percent }: { readonly secret: Buffer; readonly percent: number }) {
    this.#key = releaseKeyOf(secret);
    const spki = createPublicKey(this.#key).export({ format: "der", type: "spki" });
    this.#publicKey = spki.subarray(-KEY_BYTES).toString("base64url");
    this.#percent = percent;
  }

  /** The key, and this server's version where the agent is older, is in the share of machines, and has not failed with it. */
  async offerFor(credentialId: AgentCredentialId, hello: Hello): Promise<ReleaseOffer> {
    if (hello.updates_itself !== true) return {};
    const keyed = { release_key: this.#publicKey };
    if (!isOlder(hello.agent_version) || !isInShare(`${credentialId} ${hello.host_key}`, this.#percent)) return keyed;
    const { version = "", outcome = "done" } = hello.update_result ?? {};
    if (version === manifest.version && outcome === "rolled_back") return keyed;
    return { ...keyed, release: (await this.#make()).release };
  }

  /** The archive with this digest; undefined where this server offers none, or another one. */
  async find(sha256: string): Promise<Buffer | undefined> {
    if (this.#percent === 0) return undefined;
    const { archive, release } = await this.#make();
    return release.sha256 === sha256 ? archive : undefined;
  }

  #make() {
    this.#made ??= this.#bundle();
    return this.#made;
  }

  async #bundle() {
    const archive = await bundleAgent();
    const sha256 = createHash("sha256").update(archive).digest("hex");
    const said = { version: manifest.version, bytes: archive.length, sha256 };
    const signature = sign(undefined, Buffer.from(releaseText(said)), this.#key).toString("base64url");
    return { archive, release: { ...said, signature } };
  }
}

/** The key with which the servers of this secret sign. */
export function releaseKeyOf(secret: Buffer): KeyObject {
  const seed = Buffer.from(hkdfSync("sha256", secret, "", "berth: releases of the agent", KEY_BYTES));
  return createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: "der", type: "pkcs8" });
}

function isOlder(version: string): boolean {
  return /^\d+\.\d+\.\d+$/.test(version) && compareVersions(version, manifest.version) < 0;
}

/** Each version goes to other machines first. */
function isInShare(machine: string, percent: number): boolean {
  const digest = createHash("sha256").update(`${manifest.version} ${machine}`).digest();
  return digest.readUInt32BE(0) % SHARES < percent;
}
