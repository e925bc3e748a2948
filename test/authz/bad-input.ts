// One wrong value for each thing that an operation takes, made from its schema.
import type { ApiOperation, JsonSchema } from "./openapi.ts";
import { at } from "./row.ts";
import type { Target } from "./world.ts";

/** A request that must be refused, since this field of it is wrong. */
export type BadInput = { readonly field: string; readonly target: Target };

/** A text that is no number, word of a list, JSON, id, hash or token, in a query or a path. */
const NONSENSE = "[no such thing";
/** Paths are read as far as they can be: any number stands for an object that need not exist. */
const SOME_ID = 1;

/** Operations that can be asked for in one way only. All others must refuse something. */
export const WITHOUT_INPUT: ReadonlySet<string> = new Set([
  "GET /api/v0/admin/invitations/",
  "GET /api/v0/admin/loops/",
  "GET /api/v0/admin/announcements/",
  "GET /api/v0/admin/overview/",
  "GET /api/v0/admin/pause/",
  "DELETE /api/v0/admin/pause/",
  "GET /api/v0/admin/payout_holds/",
  "GET /api/v0/admin/reconciliation/",
  "GET /api/v0/admin/settings/",
  "GET /api/v0/announcements/",
  "GET /api/v0/arrears/",
  "GET /api/v0/audit_log_filters/",
  "GET /api/v0/audit_logs/",
  "GET /api/v0/auth/apikeys/",
  "DELETE /api/v0/auth/browser/",
  "DELETE /api/v0/auth/browser/view/",
  "GET /api/v0/auth/browser/settings/",
  "GET /api/v0/auth/passkeys/",
  "POST /api/v0/auth/passkeys/options/",
  "POST /api/v0/auth/passkeys/sign-in/options/",
  "GET /api/v0/auth/pubkeys/",
  "GET /api/v0/auth/sessions/",
  "GET /api/v0/auth/sso/problems/",
  "GET /api/v0/auth/sso/start/",
  "GET /api/v0/autojobs/",
  "GET /api/v0/billing/autobill/",
  "GET /api/v0/billing/payment_methods/",
  "POST /api/v0/billing/payment_methods/",
  "GET /api/v0/billing/payout_method/",
  "GET /api/v0/billing/returned/",
  "GET /api/v0/caps/",
  "PUT /api/v0/commands/reset_apikey/",
  "GET /api/v0/charges/forecast/",
  "GET /api/v0/clusters/",
  "GET /api/v0/commands/schedule_job/",
  "GET /api/v0/deployments/",
  "GET /api/v0/endptjobs/",
  "GET /api/v0/gpu_names/unique/",
  "GET /api/v0/gpu_prices/",
  "GET /api/v0/gpu_types/",
  "GET /api/v0/hosts/credentials/",
  "GET /api/v0/hosts/tokens/",
  "GET /api/v0/instances/",
  "GET /api/v0/instances/count/",
  "GET /api/v0/instances/filters/",
  "GET /api/v0/instances/metrics/",
  "GET /api/v0/instances/pending-price-increases/",
  "GET /api/v0/machines/errors/",
  "GET /api/v0/machines/errors/count/",
  "GET /api/v0/metrics/gpu/locations/",
  "GET /api/v0/network_disk/",
  "GET /api/v0/notification-types/",
  "GET /api/v0/overlay/",
  "GET /api/v0/secrets/",
  "GET /api/v0/users/saved-searches/",
  "GET /api/v0/ssh/",
  "GET /api/v0/standing_requests/",
  "GET /api/v0/subaccounts/",
  "DELETE /api/v0/team/",
  "GET /api/v0/team/apikeys/",
  "GET /api/v0/team/balances/",
  "GET /api/v0/team/members/",
  "GET /api/v0/team/roles-full/",
  "GET /api/v0/team/roles/",
  "GET /api/v0/team/sessions/",
  "GET /api/v0/teams/",
  "GET /api/v0/template/params/",
  "GET /api/v0/user/earnings/",
  "GET /api/v0/tfa/status/",
  "POST /api/v0/tfa/totp-setup/",
  "GET /api/v0/users/cloud/",
  "GET /api/v0/users/cloud_integrations/",
  "GET /api/v0/users/current/",
  "DELETE /api/v0/users/current/",
  "GET /api/v0/users/me/",
  "POST /api/v0/users/current/email/proof/",
  "POST /api/v0/users/me/email/proof/",
  "GET /api/v0/users/spend-rate/",
  "GET /api/v0/webhooks/",
  "GET /api/v0/workergroups/",
  "GET /api/v1/counts/",
  "GET /api/v1/instances/lite/",
  "GET /api/v1/user/earnings/summary/",
  "GET /docs",
  "GET /healthz",
  "GET /metrics",
  "GET /openapi.json",
  "GET /pubkey/",
  "GET /readyz",
  "GET /static/jvastai_root.cer",
]);

/** Operations whose schema does not say what they take. */
const BY_HAND: Readonly<Record<string, BadInput>> = {
  "POST /api/v0/sign_cert/": {
    field: "instance_id",
    target: at("/api/v0/sign_cert/?instance_id=x", {}),
  },
  "GET /api/v0/admin/search/": { field: "q", target: at("/api/v0/admin/search/?q=") },
  "POST /api/v0/billing/stripe/webhook/": {
    field: "signature",
    target: at("/api/v0/billing/stripe/webhook/", { id: "evt_1" }),
  },
};

/** Wrong requests of an operation: of its body, its query and its path, in this order. */
export function badInputsOf({ name, path, body, parameters }: ApiOperation): readonly BadInput[] {
  const byHand = BY_HAND[name];
  if (byHand !== undefined) return [byHand];
  const somewhere = path.replace(/\{\w+\}/g, String(SOME_ID));
  const fields = Object.entries(body?.properties ?? {}).flatMap(([field, schema]): readonly BadInput[] => {
    const wrong = wrongValue(schema);
    return wrong === undefined ? [] : [{ field, target: at(somewhere, { [field]: wrong }) }];
  });
  const places = parameters.map(({ in: place, name: field }): BadInput => {
    const text = encodeURIComponent(NONSENSE);
    if (place === "query") return { field, target: at(`${somewhere}?${field}=${text}`) };
    return { field, target: at(path.replace(`{${field}}`, text).replace(/\{\w+\}/g, String(SOME_ID))) };
  });
  return [...fields, ...places.filter(({ target }) => target.path.includes("?")), ...places.filter(isInPath)];
}

function isInPath({ target }: BadInput): boolean {
  return !target.path.includes("?");
}

/** A value of none of the types that the schema allows; undefined when it allows everything. */
function wrongValue(schema: JsonSchema): unknown {
  const types = typesOf(schema);
  if (types.size === 0) return undefined;
  if (!types.has("object") && !types.has("array")) return { no: "such thing" };
  return [true, NONSENSE, 7].find((value) => !types.has(typeof value));
}

function typesOf({ type = [], anyOf = [], oneOf = [], const: only, enum: words }: JsonSchema): ReadonlySet<string> {
  const own = [type].flat().map((one) => (one === "integer" ? "number" : one));
  const said = only === undefined ? (words ?? []) : [only];
  const inner = [...anyOf, ...oneOf].map(typesOf);
  // A choice of which one alternative allows everything allows everything.
  if (inner.some((types) => types.size === 0)) return new Set();
  return new Set([...own, ...said.map((word) => typeof word), ...inner.flatMap((types) => [...types])]);
}
