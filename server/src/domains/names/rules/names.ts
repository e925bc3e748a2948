/** The length of a whole name in DNS, and the parts that certificates may name. */
const NAME_LENGTH_MAX = 253;
const PART = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** The name in the form in which it is compared; undefined for a text that names no host. */
export function parseHostName(text: string): string | undefined {
  const name = text.toLowerCase();
  const parts = name.split(".");
  // Addresses have no certificate, and a name without a dot has none from a public authority.
  const isName = parts.length > 1 && parts.every((part) => PART.test(part)) && !/^\d+$/.test(parts.at(-1) ?? "");
  return isName && name.length <= NAME_LENGTH_MAX ? name : undefined;
}

/** True when a certificate for `name`, which may begin with `*.`, is good for this host. */
export function covers(name: string, host: string): boolean {
  return name === host || (name.startsWith("*.") && name.slice(1) === host.slice(host.indexOf(".")));
}
