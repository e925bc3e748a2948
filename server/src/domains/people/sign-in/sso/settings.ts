import type { UserId } from "../../../../base/ids.ts";

/** A role that a group of the issuer gives. */
export type GroupRole =
  | { readonly kind: "admin" }
  | { readonly kind: "team"; readonly teamId: UserId; readonly role: string };

/** The issuer of single sign-on, and what it may decide. */
export type SsoSettings = {
  readonly issuer: URL;
  readonly clientId: string;
  /** Absent for a public client, which proves itself by PKCE alone. */
  readonly clientSecret: string | undefined;
  /** The name of the issuer on the sign-in page. */
  readonly name: string;
  /** Words apart by spaces, `openid` among them. */
  readonly scopes: string;
  readonly groupsClaim: string;
  /** Roles by group, in the order of the setting: of two for one team the first counts. */
  readonly groupRoles: ReadonlyMap<string, readonly GroupRole[]>;
  /** True when the issuer may be on this network, and without TLS. */
  readonly isPrivateAllowed: boolean;
};
