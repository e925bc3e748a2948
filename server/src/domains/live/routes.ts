import type { FastifyRequest } from "fastify";
import type { Readable } from "node:stream";
import { Type } from "typebox";
import { forbidden, invalid } from "../../base/errors.ts";
import type { Identity } from "../../base/identity.ts";
import { networkOf, plainAddress } from "../../base/public-address.ts";
import { identityOf, type HttpScope } from "../../http/server.ts";
import { presentedSecret } from "../../http/presented-secret.ts";
import type { LiveHub } from "./hub.ts";
import { KINDS, mayFollow, parseKinds, type Kind } from "./rules/kinds.ts";
import { EventsQuery } from "./schema.ts";

const LOOPBACK = new Set(["127.0.0.1", "::1"]);
/** The largest bigint has 19 digits, and no log counts that far. */
const PLACE = /^\d{1,18}$/;

/** The stream of changes that concern the caller. */
export function liveRoutes({ app }: HttpScope, { hub }: { readonly hub: LiveHub }): void {
  app.addHook("onReady", async () => hub.start());
  app.addHook("preClose", () => hub.close());
  app.get(
    "/api/v0/events/",
    {
      config: { access: { operation: "api.event.follow", permission: "any" } },
      // A HEAD request would open a stream that nobody reads.
      exposeHeadRoute: false,
      schema: {
        summary: "Follow changes as they happen",
        tags: ["Events"],
        querystring: EventsQuery,
        response: {
          200: {
            description: "Server-sent events, until either side ends the connection",
            content: { "text/event-stream": { schema: Type.Unsafe<Readable>(Type.String()) } },
          },
        },
      },
    },
    async (request, reply) => {
      const identity = identityOf(request);
      const kinds = wantedKinds(identity, request.query.kinds);
      const after = placeOf(request, request.query.last_event_id);
      const { follow: follows = true } = request.query;
      // A request that the server sends to itself has no key of its own, and waits for the end of the answer.
      if (follows && presentedSecret(request) === "") {
        throw invalid("follow", "A scheduled job must set follow to false: events never end.");
      }
      const address = plainAddress(request.ip);
      const network = LOOPBACK.has(address) ? undefined : networkOf(address);
      const stream = await hub.open({ identity, network }, { kinds, after, follows });
      return (
        reply
          .type("text/event-stream")
          // Proxies that gather answers before they pass them on would keep events back.
          .header("x-accel-buffering", "no")
          // Kept alive behind a stream that the closing server has ended, the connection would hold up its end.
          .header("connection", "close")
          .send(stream.output)
      );
    },
  );
}

/** The kinds that the caller asks for, or all that its key may see; throws when it may not see what it asks for. */
function wantedKinds(identity: Identity, text: string | undefined): ReadonlySet<Kind> {
  const parsed = parseKinds(text);
  if ("unknown" in parsed) {
    throw invalid("kinds", `kinds must be a list of ${KINDS.join(", ")}, separated by commas.`);
  }
  const allowed = [...parsed.kinds].filter((kind) => mayFollow(identity, kind));
  const refused = [...parsed.kinds].filter((kind) => !mayFollow(identity, kind));
  if (text !== undefined && refused.length > 0) {
    throw forbidden(`This key may not see events of the kind ${refused.join(", ")}.`);
  }
  return new Set(allowed);
}

/** The place behind which the client wants to go on: its browser's, which is newer, before that of its first request. */
function placeOf(request: FastifyRequest, fromQuery: string | undefined): bigint | undefined {
  const header = request.headers["last-event-id"];
  const [name, text] = header === undefined || header === "" ? ["last_event_id", fromQuery] : ["Last-Event-ID", header];
  if (text === undefined || text === "") return undefined;
  if (typeof text !== "string" || !PLACE.test(text)) {
    throw invalid(String(name), `${String(name)} must be the id of an event of this server.`);
  }
  return BigInt(text);
}
