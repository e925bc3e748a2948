import type { Words } from "./schemas.ts";

/** The groups of operations, by the noun that they are about. */
export const TAGS = [
  { name: "Accounts", description: "The own account, its keys, environment variables, SSH keys and subaccounts." },
  { name: "Administration", description: "Operations for administrators of this server." },
  { name: "Arrears", description: "Data that is kept for a while although nothing pays for it." },
  { name: "Billing", description: "Credit, charges, invoices and card payments." },
  { name: "Caps", description: "Limits on spending in a day, a month or in all." },
  { name: "Deployments", description: "Code that the workers of an endpoint run." },
  { name: "Health", description: "Checks for load balancers and monitors." },
  { name: "Hosts", description: "How machines join, and how far each can be trusted." },
  { name: "Instances", description: "Containers that run on rented GPUs." },
  { name: "Machines", description: "Machines of a host: listing, prices, maintenance and earnings." },
  { name: "Market metrics", description: "Supply, demand and prices of GPUs." },
  { name: "Network volumes", description: "Network disks of hosts, and the volumes that are rented on them." },
  { name: "Notifications", description: "Messages to a user by mail, webhook and inbox." },
  { name: "Offers", description: "Searches for GPUs that can be rented now." },
  { name: "Payouts", description: "Payouts to hosts." },
  { name: "Serverless", description: "Endpoints, their worker groups and workers, and the requests to them." },
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

export function descriptionOf(_operation: string): string | undefined {
  return undefined;
}
export function pathWords(_operation: string, _name: string): Words | undefined {
  return undefined;
}
export function exampleFor(_operation: string, _part: "request" | "response"): unknown {
  return undefined;
}
