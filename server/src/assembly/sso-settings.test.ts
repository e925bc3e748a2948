import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigError } from "./config-error.ts";
import { readSsoSettings } from "./sso-settings.ts";

const ISSUER = { BERTH_OIDC_ISSUER: "https://login.example.com/realms/gpu", BERTH_OIDC_CLIENT_ID: "berth" };

test("an issuer and a client are enough for single sign-on, and nothing is none", () => {
  assert.equal(readSsoSettings({}), undefined);
  const settings = readSsoSettings(ISSUER);
  assert.deepEqual(
    [settings?.issuer.href, settings?.clientSecret, settings?.name, settings?.scopes, settings?.groupsClaim],
    [ISSUER.BERTH_OIDC_ISSUER, undefined, "login.example.com", "openid profile email", "groups"],
  );
  assert.deepEqual([settings?.groupRoles.size, settings?.isPrivateAllowed], [0, false]);
});

test("groups give one role or several", () => {
  const roles = {
    admins: { admin: true },
    staff: [
      { team: 40, role: " member " },
      { team: 41, role: "Trainer" },
    ],
  };
  const settings = readSsoSettings({ ...ISSUER, BERTH_OIDC_GROUP_ROLES: JSON.stringify(roles) });
  assert.deepEqual(
    [...(settings?.groupRoles ?? [])],
    [
      ["admins", [{ kind: "admin" }]],
      [
        "staff",
        [
          { kind: "team", teamId: 40, role: "member" },
          { kind: "team", teamId: 41, role: "Trainer" },
        ],
      ],
    ],
  );
});

test("a setting that cannot be used is named", () => {
  const wrong: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
    [{ BERTH_OIDC_CLIENT_ID: "berth" }, /BERTH_OIDC_CLIENT_ID needs BERTH_OIDC_ISSUER/],
    [{ BERTH_OIDC_ISSUER: "https://login.example.com" }, /needs BERTH_OIDC_CLIENT_ID/],
    [{ ...ISSUER, BERTH_OIDC_ISSUER: "login.example.com" }, /BERTH_OIDC_ISSUER must be an address/],
    [{ ...ISSUER, BERTH_OIDC_ISSUER: "https://me:secret@login.example.com" }, /BERTH_OIDC_ISSUER must be an address/],
    [{ ...ISSUER, BERTH_OIDC_ISSUER: "http://login.example.com" }, /must begin with https/],
    [{ ...ISSUER, BERTH_OIDC_SCOPES: "profile email" }, /BERTH_OIDC_SCOPES .* openid/],
    [{ ...ISSUER, BERTH_OIDC_NAME: "x".repeat(65) }, /BERTH_OIDC_NAME/],
    ...["[]", "{", "7", '{"a": 1}', '{"a": {"admin": false}}', '{"a": {"team": 0, "role": "member"}}'].map(
      (text) => [{ ...ISSUER, BERTH_OIDC_GROUP_ROLES: text }, /BERTH_OIDC_GROUP_ROLES/] as const,
    ),
    [{ ...ISSUER, BERTH_OIDC_GROUP_ROLES: '{"a": {"team": 40, "role": "Owner"}}' }, /an owner, who is one person/],
    [{ ...ISSUER, BERTH_OIDC_GROUP_ROLES: '{"a": {"admin": true, "team": 40}}' }, /a must be/],
  ];
  for (const [environment, message] of wrong) {
    assert.throws(
      () => readSsoSettings(environment),
      (error) => error instanceof ConfigError && message.test(error.message),
      JSON.stringify(environment),
    );
  }
  assert.equal(
    readSsoSettings({ ...ISSUER, BERTH_OIDC_ISSUER: "http://login.internal", BERTH_OIDC_ALLOW_PRIVATE: "1" })
      ?.isPrivateAllowed,
    true,
  );
});
