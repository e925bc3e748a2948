import { Type, type Static } from "typebox";

const VERSION = "^\\d{1,6}\\.\\d{1,6}\\.\\d{1,6}$";
/** Far above an agent with its packages, and far below a disk. */
const RELEASE_BYTES_MAX = 268_435_456;

/** A version of the agent that a server offers for download, signed with the installation's key. */
export const AgentRelease = Type.Object({
  version: Type.String({ pattern: VERSION }),
  bytes: Type.Integer({ minimum: 1, maximum: RELEASE_BYTES_MAX }),
  sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
  /** An Ed25519 signature of `releaseText`, in base64url. */
  signature: Type.String({ minLength: 1, maxLength: 128 }),
});
export type AgentRelease = Static<typeof AgentRelease>;

/** The end of an agent's last attempt to update itself. */
export const UpdateResult = Type.Object({
  version: Type.String({ pattern: VERSION }),
  outcome: Type.Union([Type.Literal("done"), Type.Literal("rolled_back"), Type.Literal("refused")]),
  /** A sentence for people; empty when it is done. */
  problem: Type.String({ maxLength: 300 }),
});
export type UpdateResult = Static<typeof UpdateResult>;

/** The path at which each server that offers a release gives its archive. */
export function releasePath(sha256: string): string {
  return `/agent/releases/${sha256}`;
}

/** The text that the installation signs: nothing of the archive can change without it. */
export function releaseText({ version, bytes, sha256 }: Omit<AgentRelease, "signature">): string {
  return `berth agent release\n${version}\n${bytes}\n${sha256}\n`;
}

/** Below zero when the first of two versions is the earlier one. */
export function compareVersions(one: string, other: string): number {
  const [a, b] = [one.split(".").map(Number), other.split(".").map(Number)];
  for (let index = 0; index < 3; index += 1) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
