import { invalid, type AppError } from "../../../../base/errors.ts";
import { isPublicAddress } from "../../../../base/public-address.ts";

/** Settings with which a host reaches a cloud storage, keys included. */
export type CloudSettings =
  | {
      readonly provider: "s3";
      readonly access_key: string;
      readonly secret_access_key: string;
      /** Absent for the storage of AWS. */
      readonly endpoint?: string;
      readonly region?: string;
    }
  | { readonly provider: "b2"; readonly key_id: string; readonly application_key: string }
  | {
      readonly provider: "hf";
      readonly access_key: string;
      readonly secret_access_key: string;
      readonly namespace: string;
    };

export type CloudWish = {
  readonly provider: string;
  readonly user_given_name?: string;
  readonly access_key?: string;
  readonly secret_access_key?: string;
  readonly key_id?: string;
  readonly application_key?: string;
  readonly namespace?: string;
  readonly endpoint?: string;
  readonly region?: string;
};

const NAME_LENGTH_MAX = 100;
const KEY = /^[!-~]{1,256}$/;
const REGION = /^[a-z0-9][a-z0-9-]{0,63}$/;
const NAMESPACE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
/** URLs are read without the line ends in them, which nobody means. */
const VISIBLE = /^[!-~]+$/;
const ENDPOINT_LENGTH_MAX = 256;
/** A name in the public tree of names: one without a dot means a neighbour of the host that looks it up. */
const PUBLIC_NAME = /^([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)+[a-z]([a-z0-9-]*[a-z0-9])$/;

/** The kinds of storage that a sign-in in a browser opens, at a partner program of their vendor. */
const NEEDS_CONSENT: ReadonlySet<string> = new Set(["drive", "dropbox"]);

/** Reads the name and the settings of a connection. A value of a key is in no message: it is a secret even when it is wrong. */
export function readConnection(wish: CloudWish): { readonly name: string; readonly settings: CloudSettings } {
  if (NEEDS_CONSENT.has(wish.provider)) throw needsConsent(wish.provider);
  return { name: readName(wish.user_given_name), settings: readSettings(wish) };
}

function needsConsent(provider: string): AppError {
  const message = `${provider} cannot be connected: its vendor lets programs in only after a consent in a browser, for which this server is not registered. Connect s3, b2 or hf, which need keys alone.`;
  return invalid("provider", message, "provider_switched_off");
}

function readName(given: string | undefined): string {
  const name = (given ?? "").trim();
  if (name === "") throw invalid("user_given_name", "user_given_name is required: a name for people");
  if (name.length > NAME_LENGTH_MAX) {
    throw invalid("user_given_name", `user_given_name has more than ${NAME_LENGTH_MAX} characters`);
  }
  if (/\p{Cc}/u.test(name) || !name.isWellFormed()) {
    throw invalid("user_given_name", "user_given_name must be text without control characters");
  }
  return name;
}

function readSettings(wish: CloudWish): CloudSettings {
  switch (wish.provider) {
    case "s3":
      return {
        ...{ provider: "s3", access_key: readKey(wish, "access_key") },
        secret_access_key: readKey(wish, "secret_access_key"),
        ...(isGiven(wish.endpoint) ? { endpoint: readEndpoint(wish.endpoint) } : {}),
        ...(isGiven(wish.region) ? { region: readRegion(wish.region) } : {}),
      };
    case "b2":
      return { provider: "b2", key_id: readKey(wish, "key_id"), application_key: readKey(wish, "application_key") };
    case "hf":
      return {
        ...{ provider: "hf", access_key: readHuggingFaceKey(wish) },
        ...{ secret_access_key: readKey(wish, "secret_access_key"), namespace: readNamespace(wish.namespace) },
      };
    default:
      throw invalid("provider", "provider must be s3, b2 or hf");
  }
}

function isGiven(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== "";
}

type KeyField = "access_key" | "secret_access_key" | "key_id" | "application_key";

function readKey(wish: CloudWish, field: KeyField): string {
  const key = (wish[field] ?? "").trim();
  if (key === "") throw invalid(field, `${field} is required for ${wish.provider}`);
  if (KEY.test(key)) return key;
  throw invalid(field, `${field} must have at most 256 characters, all of them visible ASCII`);
}

function readHuggingFaceKey(wish: CloudWish): string {
  const key = readKey(wish, "access_key");
  if (key.startsWith("HFAK")) return key;
  throw invalid("access_key", "access_key of hf begins with HFAK: make one at the settings of your access token");
}

function readNamespace(given: string | undefined): string {
  const namespace = (given ?? "").trim();
  if (namespace === "")
    throw invalid("namespace", "namespace is required for hf: the user or organisation of the bucket");
  if (NAMESPACE.test(namespace)) return namespace;
  throw invalid("namespace", "namespace must be one name of letters, digits and . _ -");
}

function readRegion(given: string): string {
  const region = given.trim();
  if (REGION.test(region)) return region;
  throw invalid("region", "region must be a name of lower-case letters, digits and -, such as eu-central-1");
}

/**
 * The origin of an S3 endpoint. A name may still lead to a private address: the host looks it up for each connection, and
 * connects to public addresses only.
 */
function readEndpoint(given: string): string {
  const text = given.trim();
  const wrong = (reason: string) =>
    invalid("endpoint", `endpoint must be https://NAME or https://NAME:PORT: ${reason}`);
  if (text.length > ENDPOINT_LENGTH_MAX || !VISIBLE.test(text) || !URL.canParse(text)) throw wrong("it is no address");
  const { protocol, hostname, origin, href, port } = new URL(text);
  if (protocol !== "https:") throw wrong("keys and files travel encrypted only");
  if (href !== `${origin}/`) throw wrong("it may have no user, path or query");
  if (port === "0") throw wrong("port 0 is no port");
  if (hostname.startsWith("[")) throw wrong("hosts reach IPv4 addresses only");
  if (!PUBLIC_NAME.test(hostname) && !isPublicAddress(hostname)) throw wrong("it names no address on the internet");
  return origin;
}
