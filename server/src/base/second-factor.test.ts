import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { asId, type ApiKeyId, type UserId } from "./ids.ts";
import type { Identity } from "./identity.ts";
import { refuseWithoutFactor } from "./second-factor.ts";

const ROOT = path.join(import.meta.dirname, "../../..");

type Paths = Readonly<Record<string, Readonly<Record<string, { readonly operationId: string }>>>>;

const DEMANDING: Identity = {
  userId: asId<UserId>(1),
  apiKeyId: asId<ApiKeyId>(1),
  memberId: undefined,
  isAdmin: false,
  permissions: undefined,
  instanceId: undefined,
  demandsTfa: true,
};

test("the calls that a key refuses which demands a second factor are documented, and no others are", () => {
  const { paths } = JSON.parse(readFileSync(path.join(ROOT, "server/openapi.json"), "utf8")) as { paths: Paths };
  const refused = Object.entries(paths).flatMap(([url, methods]) =>
    Object.entries(methods).flatMap(([name, { operationId: operation }]) => {
      const method = name.toUpperCase();
      // Deletions and administration are named as a whole.
      if (method === "DELETE" || operation.startsWith("api.admin.")) return [];
      const access = { operation, permission: "any" } as const;
      return refuseWithoutFactor(DEMANDING, method, access) === undefined ? [] : [`${method} ${url}`];
    }),
  );
  const page = readFileSync(path.join(ROOT, "docs/sign-in.md"), "utf8");
  const section = page.slice(page.indexOf("## Keys that demand it"), page.indexOf("## For operators"));
  const told = [...section.matchAll(/^\| `([A-Z]+ \/\S+)` +\|/gm)].map(([, call = ""]) => call);
  assert.deepEqual(told.toSorted(), refused.toSorted());
});
