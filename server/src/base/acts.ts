import type { RouteAccess } from "./access.ts";

/** Operations of other methods than GET that only read: the body has what to look for. */
const READING = names(`
  billing.fetch_contracts cluster.search endpoint.logs endpoint.metrics endpoint.simulate endpoint.workers
  network_volume.search offer.query offer.query_asks offer.search offer.search_asks offer.suggest_bid offer.update_bundle
  template.check_login template.fetch_tags volume.search workergroup.logs workergroup.workers
`);

/**
 * Operations of programs that work for somebody: requests to endpoints, reports of workers and of the card provider. They
 * are many, and each leaves its own trace where it counts.
 */
const TRAFFIC = names(`
  billing.webhook certificate.sign deployment.heartbeat endpoint.complete endpoint.complete_chat route.request
  worker.finish worker.report
`);

/** True for a call that only reads. */
export function isReading(method: string, { operation }: Pick<RouteAccess, "operation">): boolean {
  return method === "GET" || method === "HEAD" || READING.has(operation);
}

/** True for a call by which somebody changes something. Every such call that succeeds is in the audit log. */
export function isAct(method: string, { operation }: Pick<RouteAccess, "operation">): boolean {
  return !isReading(method, { operation }) && !TRAFFIC.has(operation);
}

const IDS_MAX = 50;

/**
 * Ids that a call names or got, for the audit log: whole numbers in members called `id`, `ids` or with such an end. Nothing else
 * of a request is kept, since any text may be a secret.
 */
export function idsIn(...parts: readonly unknown[]): Readonly<Record<string, number | readonly number[]>> {
  const found: Record<string, number | readonly number[]> = {};
  for (const part of parts) {
    if (typeof part !== "object" || part === null) continue;
    for (const [name, value] of Object.entries(part)) {
      if (name !== "new_contract" && !/^(?:[a-z_]{1,40}_)?ids?$/.test(name)) continue;
      const ids = [value].flat().slice(0, IDS_MAX).map(asWhole);
      const known = ids.filter((id) => id !== undefined);
      if (known.length !== ids.length || known.length === 0) continue;
      found[name] = Array.isArray(value) ? known : (known[0] ?? 0);
    }
  }
  return found;
}

function asWhole(value: unknown): number | undefined {
  const isNumber = typeof value === "number" || (typeof value === "string" && /^\d{1,15}$/.test(value));
  return isNumber && Number.isSafeInteger(Number(value)) && Number(value) >= 0 ? Number(value) : undefined;
}

function names(list: string): ReadonlySet<string> {
  return new Set(
    list
      .trim()
      .split(/\s+/)
      .map((name) => `api.${name}`),
  );
}
