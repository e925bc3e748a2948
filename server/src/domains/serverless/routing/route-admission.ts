import type { FastifyRequest } from "fastify";
import { asParameters, refuseOperation, refuseParameters, type RouteAccess } from "../../../base/access.ts";
import type { AppError } from "../../../base/errors.ts";
import { refuseFrozen } from "../../../base/freeze.ts";
import type { Identity } from "../../../base/identity.ts";
import type { RoutedGroup, WantedEndpoint } from "./routed-group.ts";
import type { Routers } from "./routers.ts";

/** The identity of an account's key; undefined for other keys. `pause` is awaited before the database is asked. */
export type Authenticate = (
  secret: string,
  ipAddress: string,
  pause: () => Promise<void>,
) => Promise<Identity | undefined>;

/** The keys that a request shows, and the endpoint that it asks for. */
type Shown = { readonly wanted: WantedEndpoint; readonly keys: readonly string[] };

/** An account's key needs this permission; the endpoint's own key needs none. */
export const ROUTE_ACCESS = { operation: "api.route.request", permission: "misc" } as const satisfies RouteAccess;

/**
 * Finds the endpoint that a request for a route may use: by the endpoint's own key, or by a key of its account that has
 * the permission. Undefined when no key opens this endpoint; throws when an account's key may not.
 */
export function routeAdmission({
  routers,
  authenticate,
  countGuess,
}: {
  readonly routers: Routers;
  readonly authenticate: Authenticate;
  /** Counts a look-up of an unknown key from this address; throws beyond the limit. */
  readonly countGuess: (ipAddress: string) => void;
}) {
  return async (request: FastifyRequest, { wanted, keys }: Shown): Promise<RoutedGroup | undefined> => {
    const known = keys.map((key) => routers.known(wanted, key)).find((group) => group !== undefined);
    if (known !== undefined) return known;
    let isCounted = false;
    /** The limit applies before the database is asked: guesses are slow and cost little. */
    const count = async () => {
      if (!isCounted) countGuess(request.ip);
      isCounted = true;
    };
    let refused: AppError | undefined;
    for (const key of new Set(keys)) {
      // Waiting for a look-up that another request began costs nothing.
      const awaited = routers.isLookedUp(key) ? await routers.findByKey(wanted, key) : undefined;
      if (awaited !== undefined) return awaited;
      const identity = await authenticate(key, request.ip, count);
      if (identity === undefined) {
        if (!routers.isLookedUp(key)) await count();
        const group = await routers.findByKey(wanted, key);
        if (group !== undefined) return group;
        continue;
      }
      const refusal = refuseAccount(identity, request);
      if (refusal === undefined) {
        const group = await routers.findOwn(identity.userId, wanted);
        if (group !== undefined) return group;
      } else refused ??= refusal;
    }
    if (refused !== undefined) throw refused;
    return undefined;
  };
}

function refuseAccount(identity: Identity, request: FastifyRequest): AppError | undefined {
  return (
    refuseOperation(identity, ROUTE_ACCESS) ??
    refuseFrozen(identity, request.method, ROUTE_ACCESS) ??
    refuseParameters(identity, ROUTE_ACCESS, [request.query, request.body].map(asParameters))
  );
}
