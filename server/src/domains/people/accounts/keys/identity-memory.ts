import type { ApiKeyId, UserId } from "../../../../base/ids.ts";
import type { HeldSession } from "./cookie-callers.ts";

type Remembered = { readonly held: HeldSession; readonly untilMs: number };

/** Identities by the hashes of their keys, bounded in number and in age. New identities displace the oldest. */
export class IdentityMemory {
  readonly #byHash = new Map<string, Remembered>();
  readonly #hashByKeyId = new Map<ApiKeyId, string>();
  readonly #entriesMax: number;
  readonly #rememberedMs: number;

  constructor({ entriesMax, rememberedMs }: { readonly entriesMax: number; readonly rememberedMs: number }) {
    this.#entriesMax = entriesMax;
    this.#rememberedMs = rememberedMs;
  }

  find(hash: string, nowMs: number): HeldSession | undefined {
    const known = this.#byHash.get(hash);
    return known !== undefined && nowMs < known.untilMs ? known.held : undefined;
  }

  remember(hash: string, held: HeldSession, nowMs: number): void {
    this.#drop(hash);
    for (const oldest of this.#byHash.keys()) {
      if (this.#byHash.size < this.#entriesMax) break;
      this.#drop(oldest);
    }
    this.#byHash.set(hash, { held, untilMs: nowMs + this.#rememberedMs });
    this.#hashByKeyId.set(held.identity.apiKeyId, hash);
  }

  forgetKey(keyId: ApiKeyId): void {
    const hash = this.#hashByKeyId.get(keyId);
    if (hash !== undefined) this.#drop(hash);
  }

  forgetUser(userId: UserId): void {
    for (const [hash, { held }] of this.#byHash) {
      const { identity } = held;
      if (identity.userId === userId || identity.view?.adminId === userId) this.#drop(hash);
    }
  }

  forgetAll(): void {
    this.#byHash.clear();
    this.#hashByKeyId.clear();
  }

  #drop(hash: string): void {
    const known = this.#byHash.get(hash);
    if (known === undefined) return;
    this.#byHash.delete(hash);
    this.#hashByKeyId.delete(known.held.identity.apiKeyId);
  }
}
