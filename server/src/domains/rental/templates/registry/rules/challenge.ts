/**
 * The authorization that a registry asks for in its header `WWW-Authenticate` (RFC 9110, and the token protocol of
 * registries).
 */
export type Challenge =
  | { readonly kind: "basic" }
  | { readonly kind: "bearer"; readonly realm: string; readonly service: string; readonly scope: string };

/** The first challenge of the header that can be answered; undefined when there is none. */
export function readChallenge(header: string | undefined): Challenge | undefined {
  const text = header ?? "";
  const bearer = /(?:^|,\s*)bearer\s+(.*)$/i.exec(text)?.[1];
  if (bearer === undefined) return /(?:^|,\s*)basic\b/i.test(text) ? { kind: "basic" } : undefined;
  const given = new Map([...bearer.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, value]));
  const realm = given.get("realm") ?? "";
  return realm === ""
    ? undefined
    : { kind: "bearer", realm, service: given.get("service") ?? "", scope: given.get("scope") ?? "" };
}

/** The address of the next page in a header `Link`; undefined on the last page. */
export function readNextLink(header: string | undefined): string | undefined {
  return /<([^>]*)>\s*;\s*rel="?next"?/i.exec(header ?? "")?.[1];
}
