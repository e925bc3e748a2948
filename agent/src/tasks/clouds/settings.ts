import { AUTHORITIES, TOOLBOX_PATH } from "../../machine/toolbox.ts";
import type { TaskAction } from "../../wire/messages.ts";

export type CloudCopyAction = Extract<TaskAction, { readonly type: "cloud_copy" }>;
export type CloudSettings = NonNullable<CloudCopyAction["settings"]>;

/** The gateway of Hugging Face to its storage buckets; the namespace is the first part of each path. */
const HUGGING_FACE = "https://s3.hf.co";

/** The name of the storage for rclone, in variables and before paths. */
export const REMOTE = "cloud";

/** Bytes of memory from which rclone gives some back; the limit of the sandbox counts addresses. */
const MEMORY = "768MiB";

/**
 * Variables of rclone's environment, one a line: it reads its configuration from nothing else, and no other user of the
 * host can read them, as they could its arguments.
 */
export function environmentOf(settings: CloudSettings, proxyPort: number): readonly string[] {
  const variables = {
    ...remoteOf(settings),
    HTTPS_PROXY: `http://127.0.0.1:${proxyPort}`,
    HTTP_PROXY: `http://127.0.0.1:${proxyPort}`,
    NO_PROXY: "",
    SSL_CERT_FILE: `${TOOLBOX_PATH}/${AUTHORITIES}`,
    // An image may bring a folder of authorities; connections are the host's, by what the host trusts.
    SSL_CERT_DIR: `${TOOLBOX_PATH}/none`,
    GOMEMLIMIT: MEMORY,
    GOMAXPROCS: "2",
    HOME: "/nonexistent",
  };
  return Object.entries(variables).map(([name, value]) => `${name}=${value}`);
}

function remoteOf(settings: CloudSettings): Readonly<Record<string, string>> {
  const variables = (type: string, values: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries({ TYPE: type, ...values }).map(([name, value]) => [
        `RCLONE_CONFIG_${REMOTE.toUpperCase()}_${name}`,
        value,
      ]),
    );
  if (settings.provider === "b2") {
    return variables("b2", { ACCOUNT: settings.keyId, KEY: settings.applicationKey });
  }
  // A narrow key may neither list nor make buckets.
  const keys = {
    ACCESS_KEY_ID: settings.accessKey,
    SECRET_ACCESS_KEY: settings.secretAccessKey,
    NO_CHECK_BUCKET: "true",
  };
  if (settings.provider === "hf") {
    return variables("s3", { ...keys, PROVIDER: "Other", ENDPOINT: `${HUGGING_FACE}/${settings.namespace}` });
  }
  const { endpoint, region } = settings;
  const place = endpoint === undefined ? { PROVIDER: "AWS" } : { PROVIDER: "Other", ENDPOINT: endpoint };
  return variables("s3", { ...keys, ...place, ...(region === undefined ? {} : { REGION: region }) });
}

/** Values that are in no text of the host's: an error of a storage may repeat a key. */
export function hideKeys(text: string, settings: CloudSettings): string {
  const keys =
    settings.provider === "b2"
      ? [settings.keyId, settings.applicationKey]
      : [settings.accessKey, settings.secretAccessKey];
  return keys.reduce((hidden, key) => hidden.replaceAll(key, "(a key)"), text);
}
