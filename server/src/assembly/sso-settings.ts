import { asId, MAX_ID, type UserId } from "../base/ids.ts";
import type { GroupRole, SsoSettings } from "../domains/people/sign-in/index.ts";
import { ConfigError } from "./config-error.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_SCOPES = "openid profile email";
const NAME_LENGTH_MAX = 64;
const OTHERS = ["CLIENT_ID", "CLIENT_SECRET", "NAME", "SCOPES", "GROUPS_CLAIM", "GROUP_ROLES"];

/** The settings of single sign-on; undefined where the operator names no issuer. */
export function readSsoSettings(environment: Environment): SsoSettings | undefined {
  const issuer = environment["BERTH_OIDC_ISSUER"];
  if (!issuer) {
    const stray = OTHERS.find((name) => environment[`BERTH_OIDC_${name}`]);
    if (stray !== undefined) throw new ConfigError(`BERTH_OIDC_${stray} needs BERTH_OIDC_ISSUER as well`);
    return undefined;
  }
  const clientId = environment["BERTH_OIDC_CLIENT_ID"];
  if (!clientId)
    throw new ConfigError("BERTH_OIDC_ISSUER needs BERTH_OIDC_CLIENT_ID: the name that the issuer gave this server");
  const isPrivateAllowed = environment["BERTH_OIDC_ALLOW_PRIVATE"] === "1";
  const url = readIssuer(issuer, isPrivateAllowed);
  return {
    issuer: url,
    clientId,
    clientSecret: environment["BERTH_OIDC_CLIENT_SECRET"] || undefined,
    name: readName(environment["BERTH_OIDC_NAME"] || url.hostname),
    scopes: readScopes(environment["BERTH_OIDC_SCOPES"] || DEFAULT_SCOPES),
    groupsClaim: environment["BERTH_OIDC_GROUPS_CLAIM"] || "groups",
    groupRoles: readGroupRoles(environment["BERTH_OIDC_GROUP_ROLES"]),
    isPrivateAllowed,
  };
}

function readIssuer(text: string, isPrivateAllowed: boolean): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "" || url.username !== "") {
    throw new ConfigError(
      `BERTH_OIDC_ISSUER must be an address such as https://login.example.com/realms/gpu, not "${text}"`,
    );
  }
  if (url.protocol === "https:" || isPrivateAllowed) return url;
  throw new ConfigError("BERTH_OIDC_ISSUER must begin with https://, unless BERTH_OIDC_ALLOW_PRIVATE is 1");
}

function readName(text: string): string {
  const name = text.trim();
  if (name.length <= NAME_LENGTH_MAX && !/\p{Cc}/u.test(name)) return name;
  throw new ConfigError(`BERTH_OIDC_NAME must have at most ${NAME_LENGTH_MAX} characters, such as "Example Corp"`);
}

function readScopes(text: string): string {
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  if (!words.includes("openid") || !words.every((word) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(word))) {
    throw new ConfigError(
      `BERTH_OIDC_SCOPES must be words with openid among them, such as "${DEFAULT_SCOPES}", not "${text}"`,
    );
  }
  return words.join(" ");
}

/** Roles such as `{"gpu-admins": {"admin": true}, "research": [{"team": 40, "role": "member"}]}`. */
function readGroupRoles(text: string | undefined): SsoSettings["groupRoles"] {
  if (!text) return new Map();
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new ConfigError("BERTH_OIDC_GROUP_ROLES must be a JSON object of groups");
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new ConfigError("BERTH_OIDC_GROUP_ROLES must be a JSON object of groups");
  }
  return new Map(
    Object.entries(parsed).map(([group, value]) => {
      const roles: readonly unknown[] = Array.isArray(value) ? value : [value];
      return [group, roles.map((role) => readRole(group, role))];
    }),
  );
}

function readRole(group: string, value: unknown): GroupRole {
  const { admin, team, role, ...others }: Readonly<Record<string, unknown>> = { ...(isObject(value) ? value : {}) };
  const isAlone = Object.keys(others).length === 0;
  if (isAlone && admin === true && team === undefined && role === undefined) return { kind: "admin" };
  const isTeam = typeof team === "number" && Number.isInteger(team) && team > 0 && team <= MAX_ID;
  if (isAlone && admin === undefined && isTeam && typeof role === "string" && role.trim() !== "") {
    if (role.trim().toLowerCase() === "owner") {
      throw new ConfigError(`BERTH_OIDC_GROUP_ROLES: ${group} cannot give the role of an owner, who is one person`);
    }
    return { kind: "team", teamId: asId<UserId>(team), role: role.trim() };
  }
  throw new ConfigError(
    `BERTH_OIDC_GROUP_ROLES: ${group} must be {"admin": true} or such as {"team": 40, "role": "member"}, or a list of these`,
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
