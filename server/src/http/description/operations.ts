import type { OperationWords } from "./operation-words.ts";
import { ADMINISTRATION_OPERATIONS } from "./operations/administration.ts";
import { FILE_OPERATIONS } from "./operations/files.ts";
import { MONEY_OPERATIONS } from "./operations/money.ts";
import { PASSKEY_OPERATIONS } from "./operations/passkeys.ts";
import { PEOPLE_OPERATIONS } from "./operations/people.ts";
import { RENTAL_OPERATIONS } from "./operations/rental.ts";
import { SERVERLESS_OPERATIONS } from "./operations/serverless.ts";
import { SIGN_IN_OPERATIONS } from "./operations/sign-in.ts";
import { SUPPLY_OPERATIONS } from "./operations/supply.ts";
import { TEMPLATE_OPERATIONS } from "./operations/templates.ts";
import { UNBUILT_OPERATIONS } from "./operations/unbuilt.ts";
import type { Words } from "./schemas.ts";

/** The groups of operations, by the noun that they are about. */
export const TAGS = [
  { name: "Accounts", description: "The own account, its keys, environment variables, SSH keys and subaccounts." },
  { name: "Administration", description: "Operations for administrators of this server." },
  { name: "Arrears", description: "Data that is kept for a while although nothing pays for it." },
  { name: "Billing", description: "Credit, charges, invoices and card payments." },
  { name: "Caps", description: "Limits on spending in a day, a month or in all." },
  { name: "Deployments", description: "Code that the workers of an endpoint run." },
  { name: "Events", description: "A stream of what changes." },
  { name: "Health", description: "Checks for load balancers and monitors." },
  { name: "Hosts", description: "How machines join, and how far each can be trusted." },
  { name: "Instances", description: "Containers that run on rented GPUs." },
  { name: "Machines", description: "Machines of a host: listing, prices, maintenance and earnings." },
  { name: "Market metrics", description: "Supply, demand and prices of GPUs." },
  { name: "Network volumes", description: "Network disks of hosts, and the volumes that are rented on them." },
  { name: "Notifications", description: "Messages to a user by mail, webhook and inbox." },
  { name: "Offers", description: "Searches for GPUs that can be rented now." },
  { name: "Payouts", description: "Payouts to hosts." },
  { name: "Scheduled jobs", description: "Requests that the server sends to itself at times that you choose." },
  { name: "Serverless", description: "Endpoints, their worker groups and workers, and the requests to them." },
  { name: "Sign-in", description: "Sessions of people, two-factor sign-in, passkeys and single sign-on." },
  { name: "Standing requests", description: "The queue of requests that wait for a matching offer." },
  { name: "Teams", description: "Accounts that several people use, with roles." },
  { name: "Templates", description: "Stored launch settings of instances." },
  { name: "Volumes", description: "Disk space that is rented apart from an instance." },
] as const;

const TAG_OF_RESOURCE: Readonly<Record<string, string>> = {
  instance: "Instances",
  copy: "Instances",
  offer: "Offers",
  health: "Health",
};

/** The group of an operation whose route names none. */
export function tagOf(operation: string): string {
  return TAG_OF_RESOURCE[resourceOf(operation)] ?? "Administration";
}

/** `volume` of `api.volume.rent`. */
function resourceOf(operation: string): string {
  return operation.split(".")[1] ?? "";
}

export const OPERATIONS: OperationWords = {
  ...RENTAL_OPERATIONS,
  ...TEMPLATE_OPERATIONS,
  ...FILE_OPERATIONS,
  ...SUPPLY_OPERATIONS,
  ...MONEY_OPERATIONS,
  ...SERVERLESS_OPERATIONS,
  ...PEOPLE_OPERATIONS,
  ...SIGN_IN_OPERATIONS,
  ...ADMINISTRATION_OPERATIONS,
  ...PASSKEY_OPERATIONS,
  ...UNBUILT_OPERATIONS,
};

export function descriptionOf(operation: string): string | undefined {
  return OPERATIONS[operation]?.description;
}

/** The example of an operation's request or response; undefined when it is composed of the examples of its fields. */
export function exampleFor(operation: string, part: "request" | "response"): unknown {
  return OPERATIONS[operation]?.[part];
}

/** The thing that `{id}` in a path names, by the second word of the operation. */
const ID_OF: Readonly<Record<string, Words>> = {
  admin: ["Id of the payout", 4],
  apikey: ["Id of the API key", 5],
  billing: ["Id of the card", 2],
  cap: ["Id of the cap", 3],
  deployment: ["Id of the deployment", 6],
  endpoint: ["Id of the endpoint", 15],
  host: ["Id of the agent credential", 4],
  host_token: ["Id of the join token", 11],
  instance: ["Id of the instance", 77],
  machine: ["Id of the machine", 12],
  offer: ["Id of the offer", 481],
  passkey: ["Id of the passkey", 3],
  saved_search: ["Id of the saved search", 3],
  schedule: ["Id of the scheduled job", 8],
  ssh_key: ["Id of the SSH key", 3],
  standing_request: ["Id of the standing request", 14],
  template: ["Id of the template", 31],
  team: ["Id of the member's account", 9],
  webhook: ["Id of the webhook", 2],
  workergroup: ["Id of the worker group", 22],
};
const ID_IN: Readonly<Record<string, Words>> = {
  "api.instance.create": ["Id of the offer", 481],
  "api.offer.gpu_type": ["Name of the GPU; `_` stands for a blank", "RTX_4090"],
  "api.offer.suggest_bid": ["Id of the bundle, `bundle_id` of its offers", 80_214_553],
  "api.offer.update_bundle": ["Id of the bundle, `bundle_id` of its offers", 80_214_553],
  "api.admin.flag.clear": ["Id of the flag", 8],
  "api.admin.lift_freeze": ["Id of the freeze", 2],
  "api.admin.machine.verify": ["Id of the machine", 12],
  "api.admin.announcement.update": ["Id of the announcement", 3],
  "api.admin.announcement.delete": ["Id of the announcement", 3],
  "api.admin.instance.stop": ["Id of the instance", 77],
  "api.admin.machine.unlist": ["Id of the machine", 12],
  "api.admin.machine.ask_to_move": ["Id of the machine", 12],
  "api.admin.user.show": ["Id of the account", 7],
  "api.admin.user.export": ["Id of the account", 7],
  "api.admin.user.delete": ["Id of the account", 7],
  "api.admin.refund_payment": ["Id of the card payment", 12],
  "api.admin.release_payouts": ["Id of the hold", 6],
};
const PATH_WORDS: Readonly<Record<string, Words>> = {
  hash_id: ["Hash of the template", "4e17788f74f075dd9aab7d0d4427968f"],
  key_id: ["Id of the SSH key", 3],
  name: ["Name or identifier of the role; to change one, its id", "trainer"],
  number: ["Number of the document", "2026-000007"],
  token: ["Token of the invitation", "i_2f81"],
  user_id: ["Id of the account, or `me` or `current`", "me"],
};

/** The sentence and example of a part of a path. Ids that the schema takes as text are texts in the example, too. */
export function pathWords(operation: string, name: string, isText: boolean): Words | undefined {
  const words = name === "id" ? (ID_IN[operation] ?? ID_OF[resourceOf(operation)]) : PATH_WORDS[name];
  return words === undefined ? undefined : [words[0], isText ? String(words[1]) : words[1]];
}
