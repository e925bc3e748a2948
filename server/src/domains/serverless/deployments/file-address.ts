import { createHmac, createSecretKey, hkdfSync, timingSafeEqual } from "node:crypto";
import { asId, type DeploymentId, type DeploymentVersionId } from "../../../base/ids.ts";

/** The use that an address permits. */
export type FileUse = "upload" | "download";

/**
 * Makes and reads the last part of an address at which the code of one version can be uploaded or downloaded for a
 * limited time, without any other credential. Nothing is stored for it, so every server with the same secret accepts
 * it.
 */
export type FileAddresses = {
  readonly make: (use: FileUse, version: VersionName, now: Date) => string;
  /** The content of an address; undefined when it is for another use, has expired, or was never issued. */
  readonly read: (
    use: FileUse,
    address: { readonly deploymentId: number; readonly token: string },
    now: Date,
  ) => DeploymentVersionId | undefined;
};

type VersionName = { readonly id: DeploymentVersionId; readonly deploymentId: DeploymentId };

const VALID_MS: Readonly<Record<FileUse, number>> = { upload: 3_600_000, download: 600_000 };
export const UPLOAD_MS = VALID_MS.upload;

export function fileAddresses(secret: Buffer): FileAddresses {
  const key = createSecretKey(Buffer.from(hkdfSync("sha256", secret, "", "berth deployment files 1", 32)));
  const sign = (use: FileUse, deploymentId: number, claim: string) =>
    createHmac("sha256", key).update(`${use} ${deploymentId} ${claim}`).digest("base64url");
  return {
    make(use, version, now) {
      const claim = `${version.id}.${Math.ceil((now.getTime() + VALID_MS[use]) / 1000)}`;
      return `${claim}.${sign(use, version.deploymentId, claim)}`;
    },
    read(use, { deploymentId, token }, now) {
      const [, claim = "", id, until, signature = ""] = /^(([1-9]\d{0,9})\.(\d{1,12}))\.([\w-]{43})$/.exec(token) ?? [];
      // The texts are compared, not the bytes: several spellings decode to the same bytes, and this server issued
      // one.
      const [given, right] = [Buffer.from(signature), Buffer.from(sign(use, deploymentId, claim))];
      if (given.length !== right.length || !timingSafeEqual(given, right)) return undefined;
      return now.getTime() < Number(until) * 1000 ? asId<DeploymentVersionId>(Number(id)) : undefined;
    },
  };
}
