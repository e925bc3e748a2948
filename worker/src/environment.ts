/** The identity and address of a worker, from the variables of its container. */
export type WorkerEnvironment = {
  /** The id of its instance. */
  readonly id: number;
  readonly token: string;
  /** Servers to report to, without a slash at the end; the first that answers is enough. */
  readonly reportAddresses: readonly string[];
  readonly port: number;
  /** The port at which programs of this container end sessions, without TLS. */
  readonly innerPort: number;
  /** The public URL for requests, which the router signs. */
  readonly url: string;
  readonly isSecure: boolean;
  /** Requests are taken without a signature, for experiments. */
  readonly isUnsecured: boolean;
};

export type EnvironmentReading =
  | { readonly ok: true; readonly environment: WorkerEnvironment }
  | {
      readonly ok: false;
      readonly problems: readonly string[];
      /** The identity for reporting the failure; undefined where not even that is known. */
      readonly speaker: Pick<WorkerEnvironment, "id" | "token" | "reportAddresses"> | undefined;
    };

type Variables = Readonly<Record<string, string | undefined>>;

const PORT_DEFAULT = "3000";

/**
 * Without a certificate (`hasCertificate`), a worker that was asked to use TLS serves plain HTTP, and its URL says
 * so.
 */
export function readEnvironment(variables: Variables, hasCertificate: boolean): EnvironmentReading {
  const problems: string[] = [];
  const need = (name: string, pattern: RegExp, meaning: string, fallback = "") => {
    const value = variables[name]?.trim() || fallback;
    if (!pattern.test(value)) problems.push(`${name} ${value === "" ? "is not set" : `is not ${meaning}`}`);
    return value;
  };
  const id = Number(need("CONTAINER_ID", /^[1-9]\d{0,9}$/, "the number of an instance"));
  const token = need("MASTER_TOKEN", /^\S+$/, "a token");
  const reportAddresses = need("REPORT_ADDR", /\S/, "a list of addresses")
    .split(",")
    .map((address) => address.trim().replace(/\/+$/, ""))
    .filter((address) => address !== "");
  const wrong = reportAddresses.find((address) => !/^https?:\/\//.test(address) || !URL.canParse(address));
  if (wrong !== undefined) problems.push("REPORT_ADDR is not a list of addresses that begin with http:// or https://");
  const speaker = problems.length === 0 ? { id, token, reportAddresses } : undefined;
  const port = need("WORKER_PORT", /^[1-9]\d{0,4}$/, "a port", PORT_DEFAULT);
  const innerPort = need("WORKER_HTTP_PORT", /^[1-9]\d{0,4}$/, "a port", String(Number(port) + 1));
  const outer = need(`VAST_TCP_PORT_${port}`, /^[1-9]\d{0,4}$/, "a port");
  const address = need("PUBLIC_IPADDR", /^[\w.:-]+$/, "an address");
  const host = hostOf(address);
  if (host === undefined) problems.push("PUBLIC_IPADDR is not an address");
  if (problems.length > 0) return { ok: false, problems, speaker };
  const isSecure = isSet(variables["USE_SSL"]) && hasCertificate;
  const environment = {
    ...{ id, token, reportAddresses, port: Number(port), innerPort: Number(innerPort), isSecure },
    url: `${isSecure ? "https" : "http"}://${host}:${outer}`,
    isUnsecured: isSet(variables["UNSECURED"]),
  };
  return { ok: true, environment };
}

/** The address as the server signs it: IPv6 addresses have several spellings. */
function hostOf(address: string): string | undefined {
  if (!address.includes(":")) return address;
  const url = `http://[${address}]/`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

function isSet(value: string | undefined): boolean {
  return ["true", "1", "yes"].includes((value ?? "").trim().toLowerCase());
}
