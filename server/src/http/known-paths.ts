import type { FastifyReply, FastifyRequest } from "fastify";
import type { RouteAccess } from "../base/access.ts";
import { AppError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { sendError } from "./error-response.ts";
import type { App } from "./types.ts";

/** A path of the server, cut at its slashes; a part that stands for any text is undefined. */
type Pattern = {
  readonly parts: readonly (string | undefined)[];
  readonly methods: readonly string[];
  readonly access: RouteAccess | undefined;
};

type Route = {
  readonly url: string;
  readonly method: string | readonly string[];
  readonly access: RouteAccess | undefined;
};

/**
 * The paths of all routes with their methods, to tell a wrong method from a path that does not exist. As in routing,
 * slashes at the end and doubled ones do not count.
 */
export class KnownPaths {
  readonly #routes: Route[] = [];
  /** Made from the routes when the first request asks, since a start should not wait for it. */
  #patterns: readonly Pattern[] | undefined;

  /** Answers a GET at a path of no route; undefined leaves it to the refusal in JSON. */
  stray: StrayAnswer | undefined;

  add(route: Route): void {
    this.#routes.push(route);
    this.#patterns = undefined;
  }

  /** The methods that some route answers at this path, in alphabetical order; none for an unknown path. */
  methodsOf(path: string): readonly string[] {
    return [...new Set(this.#matching(path).flatMap(({ methods }) => methods))].toSorted();
  }

  /** The access of the route that answers such a request; undefined when there is no such route. */
  accessOf(method: string, path: string): RouteAccess | undefined {
    return this.#matching(path)
      .toSorted(bySpecificParts)
      .find(({ methods }) => methods.includes(method))?.access;
  }

  #matching(path: string): readonly Pattern[] {
    const asked = partsOf(path);
    this.#patterns ??= this.#routes.map(({ url, method, access }) => ({
      parts: partsOf(url).map((part) => (part.startsWith(":") ? undefined : part)),
      methods: [method].flat(),
      access,
    }));
    return this.#patterns.filter(
      ({ parts }) =>
        parts.length === asked.length && parts.every((part, index) => part === undefined || part === asked[index]),
    );
  }
}

/** As in routing, a part that stands for itself comes before one that stands for any text. */
function bySpecificParts(one: Pattern, other: Pattern): number {
  const index = one.parts.findIndex((part, at) => part !== other.parts[at]);
  if (index < 0) return 0;
  return one.parts[index] === undefined ? 1 : -1;
}

function partsOf(path: string): readonly string[] {
  return path.split("/").filter((part) => part !== "");
}

/** Answers a person's browser at a path that does not exist; undefined when the request is none of a browser. */
export type StrayAnswer = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> | undefined;

/** A known path with another method names the methods that it has; all other paths are not found. Returns all paths. */
export function refuseUnknownRoutes(app: App, log: Log): KnownPaths {
  const known = new KnownPaths();
  app.addHook("onRoute", ({ url, method, config }) => known.add({ url, method, access: config?.access }));
  app.setNotFoundHandler(async (request, reply) => {
    const [path = ""] = request.url.split("?");
    const allowed = known.methodsOf(path);
    const page = allowed.length === 0 ? known.stray?.(request, reply) : undefined;
    if (page !== undefined) return page;
    const message = `There is no ${request.method} ${path}`;
    const refused =
      allowed.length === 0
        ? new AppError("not_found", "not_found", `${message}.`)
        : new AppError("wrong_method", "method_not_allowed", `${message}; the path answers ${allowed.join(", ")}.`, {
            extra: { allowed },
          });
    sendError(refused, request, reply, log);
    return reply;
  });
  return known;
}
