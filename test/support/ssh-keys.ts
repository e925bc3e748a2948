import { generateKeyPairSync } from "node:crypto";

/** A public key as a `.pub` file has it, new each time; nobody keeps the private one. */
export function anSshKey(comment = "you@laptop"): string {
  const { publicKey } = generateKeyPairSync("ed25519");
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  return `ssh-ed25519 ${sshBlob("ssh-ed25519", raw).toString("base64")} ${comment}`.trim();
}

/** Length-prefixed strings, one after the other: how the body of a key travels. */
export function sshBlob(...fields: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(
    fields.flatMap((field) => {
      const bytes = Buffer.from(field);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );
}
