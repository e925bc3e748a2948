// One row per operation of the API: what a key needs for it, a call that succeeds, and the same call on objects that are
// somebody else's or nobody's. `matrix.test.ts` runs the rows; a route without a row does not compile, and does not pass.
import { createHash, randomUUID } from "node:crypto";
import document from "../../server/openapi.json" with { type: "json" };
import { putProof } from "../../server/src/domains/people/accounts/emails/store.ts";
import { refreshOffers } from "../../server/src/domains/supply/market/index.ts";
import { inTransaction, type TestCaller } from "../support/fixtures.ts";
import { aGpu } from "../support/hosts/fake-gpu.ts";
import { aMachine } from "../support/hosts/machines.ts";
import { until } from "../support/until.ts";
import { anSshKey } from "../support/ssh-keys.ts";
import { administrationEndpoints } from "./administration-endpoints.ts";
import { accountEndpoints } from "./account-endpoints.ts";
import { billingEndpoints } from "./billing-endpoints.ts";
import { hiddenInstanceEndpoints, instanceEndpoints, instanceFileEndpoints } from "./instance-endpoints.ts";
import { machineEndpoints } from "./machine-endpoints.ts";
import { notificationEndpoints } from "./notification-endpoints.ts";
import { ABSENT, at, onObject, onUser, plain, type Row } from "./row.ts";
import { aTeamOf, teamEndpoints } from "./team-endpoints.ts";
import { hiddenPaymentEndpoints, paymentEndpoints } from "./payment-endpoints.ts";
import { backupEndpoints, hiddenBackupEndpoints } from "./backup-endpoints.ts";
import { anSshKeyId, copyEndpoints } from "./copy-endpoints.ts";
import { completionEndpoints } from "./completion-endpoints.ts";
import { hiddenServerlessEndpoints, serverlessEndpoints } from "./serverless-endpoints.ts";
import { scheduleEndpoints } from "./schedule-endpoints.ts";
import { passkeyEndpoints } from "./passkey-endpoints.ts";
import { signInEndpoints } from "./sign-in-endpoints.ts";
import { spendingEndpoints } from "./spending-endpoints.ts";
import { templateEndpoints } from "./template-endpoints.ts";
import { cloudEndpoints } from "./cloud-endpoints.ts";
import { unbuiltEndpoints } from "./unbuilt-endpoints.ts";
import { volumeEndpoints } from "./volume-endpoints.ts";
import { aListedMachine, type World } from "./world.ts";

type Paths = (typeof document)["paths"];
type OperationOn<P extends keyof Paths> = `${Uppercase<keyof Paths[P] & string>} ${P & string}`;
/** An operation's name, such as `GET /api/v0/template/`. */
export type Operation = { [P in keyof Paths]: OperationOn<P> }[keyof Paths];

/** An offer as a search shows it. */
async function anOfferRow(world: World) {
  const machineId = await aListedMachine(world);
  const path = "/api/v0/bundles/";
  return until("a search to find the machine", async () => {
    const { offers } = await world.done("POST", at(path, { machine_id: { eq: machineId } }), world.owner);
    return (offers as readonly Readonly<Record<string, unknown>>[])[0];
  });
}

const aboutBundle = (path: string): Row => ({
  needs: "optional",
  call: async (world) => at(`/api/v0/${path}/${String((await anOfferRow(world))["bundle_id"])}/`, {}),
});

const aKeyId = async (world: World, user: TestCaller) =>
  Number((await world.done("POST", at("/api/v0/auth/apikeys/", { name: randomUUID() }), user))["id"]);

const aJoinToken = (world: World, user: TestCaller) =>
  world.done("POST", at("/api/v0/hosts/tokens/", { name: "rig" }), user);

const aJoinTokenId = async (world: World, user: TestCaller) => Number((await aJoinToken(world, user))["id"]);

/** The hello that a machine sends to join with a token of this user. */
async function aJoin(world: World, user: TestCaller) {
  const { token } = await aJoinToken(world, user);
  return { token, host_key: randomUUID(), fingerprint: randomUUID(), nonce: randomUUID() };
}

/** The credential of a machine that joined for this user. */
async function aJoinedCredential(world: World, user: TestCaller): Promise<number> {
  await world.done("POST", at("/api/v0/agent/join/", await aJoin(world, user)), user);
  const { tokens } = await world.done("GET", at("/api/v0/hosts/tokens/"), user);
  return Number((tokens as readonly { readonly credential_id: number }[])[0]?.credential_id);
}

async function aSavedSearchId(world: World, user: TestCaller): Promise<number> {
  const saved = await world.done("POST", at("/api/v0/users/saved-searches/", { name: randomUUID(), query: "" }), user);
  return (saved["saved_search"] as { readonly id: number }).id;
}

/** A variable of the user alone, under a name that is always the same: there is a limit. */
async function aSecret(world: World, user: TestCaller): Promise<string> {
  const key = `OF_${user.id}`;
  await world.send("POST", at("/api/v0/secrets/", { key, value: "v" }), user.secret);
  return key;
}

/** A token as it would be mailed to the user's address. */
async function anEmailToken({ database }: World, { id: userId, email }: TestCaller): Promise<string> {
  const token = randomUUID();
  const tokenSha256 = createHash("sha256").update(token).digest();
  const expiresAt = new Date(Date.now() + 3_600_000);
  await inTransaction(database, (tx) => putProof(tx, { userId, email, tokenSha256, expiresAt }));
  return token;
}

const aSecretName = () => `K${randomUUID().replaceAll("-", "")}`;

/** A row called by a host, which is a user with a machine. */
const asHost = (path: string): Row => ({
  needs: "machine_read",
  call: async (world) => {
    await aListedMachine(world, world.owner);
    return at(path);
  },
});

const confirmEmail = (path: string): Row => ({
  needs: "user_write",
  call: async (world) => at(path, { token: await anEmailToken(world, world.owner) }),
  aims: async (world) => ({
    token: {
      own: at(path, { token: await anEmailToken(world, world.owner) }),
      foreign: at(path, { token: await anEmailToken(world, world.stranger) }),
      absent: at(path, { token: "of-nobody" }),
    },
  }),
});

export const endpoints = {
  ...signInEndpoints,
  ...passkeyEndpoints,
  "GET /healthz": plain("public", "/healthz"),
  "GET /readyz": plain("public", "/readyz"),

  "GET /api/v0/users/{user_id}/ipaddrs/": onUser("user_read", (id) => `/api/v0/users/${id}/ipaddrs/`),
  "GET /api/v0/users/{user_id}/invoices/": onUser("billing_read", (id) => `/api/v0/users/${id}/invoices/`),
  "GET /api/v0/users/current/": plain("user_read", "/api/v0/users/current/"),
  "GET /api/v0/users/me/": plain("user_read", "/api/v0/users/me/"),
  "PUT /api/v0/users/": plain("user_write", "/api/v0/users/", { fullname: "Somebody" }),
  "POST /api/v0/users/": {
    needs: "optional user_write",
    call: () => at("/api/v0/users/", aNewUser()),
    aims: async ({ owner, stranger }) => ({
      parent_id: {
        own: at("/api/v0/users/", { ...aNewUser(), parent_id: owner.id }),
        foreign: at("/api/v0/users/", { ...aNewUser(), parent_id: stranger.id }),
        absent: at("/api/v0/users/", { ...aNewUser(), parent_id: ABSENT }),
      },
    }),
  },

  "GET /api/v0/auth/apikeys/": plain("user_read", "/api/v0/auth/apikeys/"),
  // A key may make no stronger one, so it names what its maker has.
  "POST /api/v0/auth/apikeys/": {
    needs: "user_write",
    call: () => at("/api/v0/auth/apikeys/", aKeyBody()),
    aims: async (world) => ({
      team_id: {
        own: at("/api/v0/auth/apikeys/", { ...aKeyBody(), team_id: (await aTeamOf(world, world.owner)).id }),
        foreign: at("/api/v0/auth/apikeys/", { ...aKeyBody(), team_id: (await aTeamOf(world, world.stranger)).id }),
        absent: at("/api/v0/auth/apikeys/", { ...aKeyBody(), team_id: ABSENT }),
      },
    }),
  },
  "GET /api/v0/auth/apikeys/{id}/": onObject("user_read", "id", aKeyId, (id) => at(`/api/v0/auth/apikeys/${id}/`)),
  "DELETE /api/v0/auth/apikeys/{id}/": onObject("user_write", "id", aKeyId, (id) => at(`/api/v0/auth/apikeys/${id}/`)),
  "PUT /api/v0/commands/reset_apikey/": plain("user_write", "/api/v0/commands/reset_apikey/"),

  "GET /api/v0/ssh/": plain("user_read", "/api/v0/ssh/"),
  "POST /api/v0/ssh/": plain("user_write", "/api/v0/ssh/", { ssh_key: anSshKey() }),
  "PUT /api/v0/ssh/{id}/": onObject("user_write", "id", anSshKeyId, (id) =>
    at(`/api/v0/ssh/${id}/`, { ssh_key: anSshKey() }),
  ),
  "DELETE /api/v0/ssh/{id}/": onObject("user_write", "id", anSshKeyId, (id) => at(`/api/v0/ssh/${id}/`)),

  "GET /api/v0/users/saved-searches/": plain("user_read", "/api/v0/users/saved-searches/"),
  "POST /api/v0/users/saved-searches/": plain("user_write", "/api/v0/users/saved-searches/", { name: "a", query: "" }),
  "DELETE /api/v0/users/saved-searches/{id}/": onObject("user_write", "id", aSavedSearchId, (id) =>
    at(`/api/v0/users/saved-searches/${id}/`),
  ),
  "GET /api/v0/secrets/": plain("user_read", "/api/v0/secrets/"),
  "POST /api/v0/secrets/": {
    needs: "user_write",
    call: () => at("/api/v0/secrets/", { key: aSecretName(), value: "v" }),
  },
  "PUT /api/v0/secrets/": onObject(
    "user_write",
    "key",
    aSecret,
    (key) => at("/api/v0/secrets/", { key, value: "w" }),
    "OF_NOBODY",
  ),
  "DELETE /api/v0/secrets/": onObject(
    "user_write",
    "key",
    aSecret,
    (key) => at("/api/v0/secrets/", { key }),
    "OF_NOBODY",
  ),

  "POST /api/v0/admin/users/": {
    needs: "admin",
    call: () => at("/api/v0/admin/users/", { email: `${randomUUID()}@example.com` }),
  },
  "POST /api/v0/users/me/email/proof/": plain("user_write", "/api/v0/users/me/email/proof/", {}),
  "POST /api/v0/users/current/email/proof/": plain("user_write", "/api/v0/users/current/email/proof/", {}),
  "POST /api/v0/users/me/email/confirm/": confirmEmail("/api/v0/users/me/email/confirm/"),
  "POST /api/v0/users/current/email/confirm/": confirmEmail("/api/v0/users/current/email/confirm/"),
  "POST /api/v0/admin/users/{user_id}/prove_email/": {
    needs: "admin",
    call: ({ stranger }) => at(`/api/v0/admin/users/${stranger.id}/prove_email/`, { email: stranger.email }),
  },
  "POST /api/v0/admin/keys/": {
    needs: "admin",
    call: ({ stranger }) => at("/api/v0/admin/keys/", { email: stranger.email }),
  },
  "POST /api/v0/admin/credit/": {
    needs: "admin",
    call: ({ stranger }) => at("/api/v0/admin/credit/", { email: stranger.email, amount: 1 }),
  },
  "PUT /api/v0/admin/machines/{id}/verification/": {
    needs: "admin",
    call: async (world) =>
      at(`/api/v0/admin/machines/${await aListedMachine(world)}/verification/`, { verification: "unverified" }),
  },
  "GET /api/v0/admin/audit/": plain("admin", "/api/v0/admin/audit/"),
  "GET /api/v0/admin/audit/facts/": plain("admin", "/api/v0/admin/audit/facts/"),
  "GET /api/v0/admin/reconciliation/": plain("admin", "/api/v0/admin/reconciliation/"),
  "POST /api/v0/admin/disks/": {
    needs: "admin",
    call: ({ stranger }) => at("/api/v0/admin/disks/", { email: stranger.email, size: 10 }),
  },

  // Whom it names receives; who pays is always the caller.
  "PUT /api/v0/commands/transfer_credit/": {
    needs: "billing_write",
    call: ({ stranger }) => at("/api/v0/commands/transfer_credit/", { recipient: stranger.email, amount: 1 }),
  },

  "GET /api/v0/machines/{id}/reliability/": {
    needs: "public",
    call: async (world) => at(`/api/v0/machines/${await aListedMachine(world)}/reliability/`),
  },
  "GET /api/v0/machines/{id}/verification/": onObject("machine_read", "id", aListedMachine, (id) =>
    at(`/api/v0/machines/${id}/verification/`),
  ),

  "POST /api/v0/bundles/": plain("optional", "/api/v0/bundles/", {}),
  "GET /api/v0/bundles/": plain("optional", "/api/v0/bundles/"),
  "PUT /api/v0/bundles/{id}/": aboutBundle("bundles"),
  "PUT /api/v0/bundles_bid_price/{id}/": aboutBundle("bundles_bid_price"),
  "PUT /api/v0/search/asks/": plain("misc", "/api/v0/search/asks/", {}),
  "GET /api/v0/benchmarks/": plain("misc", "/api/v0/benchmarks/"),
  "GET /api/v0/search/asks/": plain("misc", "/api/v0/search/asks/"),
  "GET /api/v0/gpu_names/unique/": plain("public", "/api/v0/gpu_names/unique/"),
  "GET /api/v0/gpu_types/": plain("public", "/api/v0/gpu_types/"),
  "GET /api/v0/gpu_types/{id}/": {
    needs: "public",
    call: async ({ database, stranger, send }) => {
      await inTransaction(database, async (tx) => {
        const gpu = aGpu(0, { uuid: randomUUID(), name: "RTX 4090" });
        await refreshOffers(tx, [await aMachine(tx, stranger.id, { hostname: randomUUID() }, [gpu])]);
      });
      const target = at("/api/v0/gpu_types/RTX_4090/");
      await until("the market to have the GPU", async () => (await send("GET", target)).status === 200);
      return target;
    },
  },

  "GET /api/v0/metrics/gpu/current/": asHost("/api/v0/metrics/gpu/current/"),
  "GET /api/v0/metrics/gpu/history/": asHost("/api/v0/metrics/gpu/history/"),
  "GET /api/v0/metrics/gpu/locations/": asHost("/api/v0/metrics/gpu/locations/"),
  "GET /api/v0/gpu_prices/": plain("public", "/api/v0/gpu_prices/"),
  "GET /api/v0/market/bid-history/": plain("public", "/api/v0/market/bid-history/?gpu_name=RTX_4090"),
  "GET /api/v0/asks/{id}/bid-history/": {
    needs: "optional",
    call: async (world) => at(`/api/v0/asks/${String((await anOfferRow(world))["id"])}/bid-history/`),
  },
  "GET /api/v0/market/history/": plain("public", "/api/v0/market/history/?gpu_name=RTX_4090"),
  "GET /api/v0/users/spend-rate/": plain("user_read", "/api/v0/users/spend-rate/"),
  ...instanceEndpoints,
  ...instanceFileEndpoints,
  ...copyEndpoints,
  ...backupEndpoints,

  "POST /api/v0/hosts/tokens/": plain("machine_write", "/api/v0/hosts/tokens/", { name: "rig" }),
  "GET /api/v0/hosts/tokens/": plain("machine_read", "/api/v0/hosts/tokens/"),
  "DELETE /api/v0/hosts/tokens/{id}/": onObject("machine_write", "id", aJoinTokenId, (id) =>
    at(`/api/v0/hosts/tokens/${id}/`),
  ),
  "GET /api/v0/hosts/credentials/": plain("machine_read", "/api/v0/hosts/credentials/"),
  "DELETE /api/v0/hosts/credentials/{id}/": onObject("machine_write", "id", aJoinedCredential, (id) =>
    at(`/api/v0/hosts/credentials/${id}/`),
  ),
  "POST /api/v0/agent/join/": {
    needs: "public",
    call: async (world) => at("/api/v0/agent/join/", await aJoin(world, world.owner)),
  },
  ...teamEndpoints,
  ...volumeEndpoints,
  ...machineEndpoints,
  ...administrationEndpoints,
  ...notificationEndpoints,
  ...accountEndpoints,
  ...billingEndpoints,
  ...paymentEndpoints,
  ...spendingEndpoints,
  ...templateEndpoints,
  ...scheduleEndpoints,
  ...cloudEndpoints,
  ...unbuiltEndpoints,

  ...serverlessEndpoints,
} satisfies Record<Exclude<Operation, keyof typeof hiddenEndpoints>, Row>;

/** Routes without JSON in or out, which are described apart: this list has all of them. */
export const hiddenEndpoints = {
  "GET /metrics": plain("admin", "/metrics"),
  ...hiddenBackupEndpoints,
  ...hiddenInstanceEndpoints,
  ...hiddenPaymentEndpoints,
  ...hiddenServerlessEndpoints,
  "GET /static/jvastai_root.cer": plain("public", "/static/jvastai_root.cer"),
  "GET /pubkey/": plain("public", "/pubkey/"),
  // This world offers agents no version: test/e2e/agent-upgrade.test.ts has a server that does.
  "GET /agent/releases/{sha256}": { ...plain("public", `/agent/releases/${"0".repeat(64)}`), answers: 404 },
  ...completionEndpoints,
  "GET /openapi.json": plain("public", "/openapi.json"),
  "GET /docs": plain("public", "/docs"),
} satisfies Readonly<Record<string, Row>>;

const aKeyBody = () => ({ name: "made", permissions: { api: { user_write: {} } } });

function aNewUser() {
  const name = randomUUID().slice(0, 18);
  return { email: `${name}@example.com`, username: name, password: `Long enough 1 ${name}` };
}
