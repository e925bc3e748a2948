import { readFileSync } from "node:fs";
import tls from "node:tls";

/**
 * Makes all connections of this process that use TLS check the other side against the roots of Node, those of this system,
 * and a file of certificates in PEM. Returns the reason why that cannot be done; undefined on success. There is no way to go
 * on without the check.
 */
export function trustServers(
  caFile: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0") {
    return "NODE_TLS_REJECT_UNAUTHORIZED=0 would let any server command this machine: remove it, and name the server's root with --ca-file";
  }
  const own: string[] = [];
  if (caFile !== undefined) {
    const read = readCertificates(caFile);
    if (typeof read === "string") return read;
    own.push(...read);
  }
  tls.setDefaultCACertificates([...tls.getCACertificates("default"), ...tls.getCACertificates("system"), ...own]);
  return undefined;
}

function readCertificates(file: string): readonly string[] | string {
  try {
    const found = readFileSync(file, "utf8").match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
    return found ?? `--ca-file: ${file} holds no certificate in PEM`;
  } catch (cause) {
    return `--ca-file: ${cause instanceof Error ? cause.message : file}`;
  }
}

const CHECK = "check the address, or name the root that signed it with --ca-file";
const PROBLEMS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "its certificate has expired: the operator has to renew it, or this machine's clock is wrong",
  CERT_NOT_YET_VALID: "its certificate is not valid yet: this machine's clock is wrong",
  DEPTH_ZERO_SELF_SIGNED_CERT: `its certificate is signed by itself: ${CHECK}`,
  SELF_SIGNED_CERT_IN_CHAIN: `its certificate comes from an authority that this machine does not know: ${CHECK}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `its certificate comes from an authority that this machine does not know: ${CHECK}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `its certificate comes from an authority that this machine does not know: ${CHECK}`,
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name: use the name at which the operator serves it",
  EPROTO: "it speaks no TLS that this machine accepts: check the port, and whether the address begins with https",
  ERR_SSL_WRONG_VERSION_NUMBER: "it speaks no TLS: check the port, or whether the address begins with http",
};

/** A sentence on what is wrong with a server's certificate; undefined for a failure of another kind. */
export function certificateProblem(cause: unknown): string | undefined {
  const code: unknown = cause instanceof Error ? Reflect.get(cause, "code") : undefined;
  return typeof code === "string" ? PROBLEMS[code] : undefined;
}
