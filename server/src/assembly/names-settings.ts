import { readFileSync } from "node:fs";
import path from "node:path";
import { parseHostName, type CertificateFiles, type NameSettings, type WantedName } from "../domains/names/index.ts";
import { ConfigError } from "./config-error.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** How this server is reached by name and with TLS. */
export type TlsSettings = NameSettings & {
  /** The name at which people, programs and agents reach the service. */
  readonly domain: string;
  /** The address that both ports listen at; undefined for every address of the machine. */
  readonly host: string | undefined;
  readonly httpsPort: number;
  /** The port without TLS, for challenges and redirections; undefined for none. */
  readonly httpPort: number | undefined;
  /** `https://` with the name, and with the port where it is not the usual one. */
  readonly url: string;
};

const LETS_ENCRYPT = "https://acme-v02.api.letsencrypt.org/directory";
const PORT_MAX = 65_535;
const NEED_DOMAIN = [
  ...["HTTPS_PORT", "HTTP_PORT", "TLS_HOST", "TLS_CERT_FILE", "TLS_KEY_FILE"],
  ...["ACME_URL", "ACME_EMAIL", "ACME_DNS_HOOK", "ACME_EAB_KID", "ACME_EAB_KEY"],
].map((name) => `BERTH_${name}`);

/** Host names of instances' ports. */
export type PortNameSettings = {
  /** The domain below which they are. */
  readonly domain: string;
  /** A port without TLS for a proxy that ends TLS; undefined for none. */
  readonly plainPort: number | undefined;
  /** The end of their addresses: a port where it is not the usual one. */
  readonly suffix: string;
};

/** The settings of names for ports; undefined where there are none. */
export function readPortNames(environment: Environment, tls: TlsSettings | undefined): PortNameSettings | undefined {
  const text = environment["BERTH_PORTS_DOMAIN"];
  const plain = environment["BERTH_PORTS_PORT"];
  if (!text) {
    if (plain) throw new ConfigError("BERTH_PORTS_PORT needs BERTH_PORTS_DOMAIN as well");
    return undefined;
  }
  const domain = readName("BERTH_PORTS_DOMAIN", text);
  if (tls === undefined && !plain) {
    throw new ConfigError("BERTH_PORTS_DOMAIN needs BERTH_DOMAIN, or BERTH_PORTS_PORT for a proxy that ends TLS");
  }
  const suffix = tls === undefined || tls.httpsPort === 443 ? "" : `:${tls.httpsPort}`;
  return { domain, plainPort: plain ? readPort("BERTH_PORTS_PORT", plain) : undefined, suffix };
}

/** The settings of TLS; undefined where a server has no name of its own. */
export function readTlsSettings(environment: Environment): TlsSettings | undefined {
  const text = environment["BERTH_DOMAIN"];
  if (!text) {
    const stray = NEED_DOMAIN.find((name) => environment[name]);
    if (stray !== undefined) throw new ConfigError(`${stray} needs BERTH_DOMAIN as well`);
    return undefined;
  }
  const domain = readName("BERTH_DOMAIN", text);
  const httpPort = environment["BERTH_HTTP_PORT"] || "80";
  const settings = {
    domain,
    host: environment["BERTH_TLS_HOST"] || undefined,
    httpsPort: readPort("BERTH_HTTPS_PORT", environment["BERTH_HTTPS_PORT"] || "443"),
    httpPort: httpPort === "off" ? undefined : readPort("BERTH_HTTP_PORT", httpPort, ", or off"),
  };
  const files = readFiles(environment["BERTH_TLS_CERT_FILE"], environment["BERTH_TLS_KEY_FILE"]);
  const acmeUrl = environment["BERTH_ACME_URL"] || (files.length === 0 ? LETS_ENCRYPT : "off");
  const dnsHook = readProgram(environment["BERTH_ACME_DNS_HOOK"]);
  const acme =
    acmeUrl === "off"
      ? undefined
      : {
          directoryUrl: readAcmeUrl(acmeUrl),
          email: readEmail(environment["BERTH_ACME_EMAIL"]),
          externalAccount: readExternalAccount(environment["BERTH_ACME_EAB_KID"], environment["BERTH_ACME_EAB_KEY"]),
        };
  if (acme === undefined && files.length === 0) {
    throw new ConfigError(
      "BERTH_ACME_URL is off, so BERTH_TLS_CERT_FILE and BERTH_TLS_KEY_FILE must name a certificate",
    );
  }
  if (acme !== undefined && settings.httpPort === undefined && dnsHook === undefined) {
    throw new ConfigError("BERTH_HTTP_PORT is off, so certificates need BERTH_ACME_DNS_HOOK or files of yours");
  }
  const portsDomain = environment["BERTH_PORTS_DOMAIN"];
  if (portsDomain && acme !== undefined && dnsHook === undefined && files.length === 0) {
    throw new ConfigError("BERTH_PORTS_DOMAIN needs BERTH_ACME_DNS_HOOK, or certificate files of yours for its names");
  }
  const ports: readonly WantedName[] = portsDomain
    ? [{ name: `*.${readName("BERTH_PORTS_DOMAIN", portsDomain)}`, challenge: "dns-01" }]
    : [];
  const main: WantedName = { name: domain, challenge: settings.httpPort === undefined ? "dns-01" : "http-01" };
  const port = settings.httpsPort === 443 ? "" : `:${settings.httpsPort}`;
  return { ...settings, url: `https://${domain}${port}`, wanted: [main, ...ports], acme, dnsHook, files };
}

function readName(name: string, text: string): string {
  const parsed = parseHostName(text);
  if (parsed !== undefined) return parsed;
  throw new ConfigError(`${name} must be a name such as gpu.example.com, not "${text}"`);
}

function readPort(name: string, text: string, others = ""): number {
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= PORT_MAX) return Number(text);
  throw new ConfigError(`${name} must be a port from 1 to ${PORT_MAX}${others}, not "${text}"`);
}

/** Pairs of files, apart by commas: a chain and its key have the same place in their lists. */
function readFiles(certificates: string | undefined, keys: string | undefined): readonly CertificateFiles[] {
  const [chains, keyFiles] = [certificates, keys].map((text) =>
    (text ?? "").split(",").flatMap((part) => (part.trim() === "" ? [] : path.resolve(part.trim()))),
  );
  if (chains?.length !== keyFiles?.length) {
    throw new ConfigError(
      "BERTH_TLS_CERT_FILE and BERTH_TLS_KEY_FILE must name as many files, one key for each certificate",
    );
  }
  const pairs = (chains ?? []).flatMap((certificate, index) => {
    const key = keyFiles?.[index];
    return key === undefined ? [] : { certificate, key };
  });
  for (const file of pairs.flatMap(({ certificate, key }) => [certificate, key])) requireFile(file);
  return pairs;
}

/** A file that is missing at the start is a mistake; later it may be missing for a moment. */
function requireFile(file: string): void {
  try {
    readFileSync(file);
  } catch (error) {
    throw new ConfigError(`BERTH_TLS_CERT_FILE, BERTH_TLS_KEY_FILE: ${error instanceof Error ? error.message : file}`);
  }
}

function readProgram(text: string | undefined): string | undefined {
  if (!text) return undefined;
  if (path.isAbsolute(text)) return text;
  throw new ConfigError(`BERTH_ACME_DNS_HOOK must be the whole path of a program, not "${text}"`);
}

function readAcmeUrl(text: string): string {
  if (URL.parse(text)?.protocol === "https:") return text;
  throw new ConfigError(`BERTH_ACME_URL must be the https address of a directory of ACME, or off, not "${text}"`);
}

function readEmail(text: string | undefined): string | undefined {
  if (!text) return undefined;
  if (/^[^\s@<>,?&]+@[A-Za-z0-9.-]+$/.test(text)) return text;
  throw new ConfigError(`BERTH_ACME_EMAIL must be an address such as ops@example.com, not "${text}"`);
}

function readExternalAccount(kid: string | undefined, hmacKey: string | undefined) {
  if (!kid && !hmacKey) return undefined;
  if (kid && hmacKey) return { kid, hmacKey };
  throw new ConfigError("BERTH_ACME_EAB_KID and BERTH_ACME_EAB_KEY belong together");
}
