import type { FastifyRequest } from "fastify";
import type { Readable } from "node:stream";
import { Type } from "typebox";
import type { WebSocket } from "ws";
import { conflict, invalid, throwRefusal, type AppError } from "../../../../base/errors.ts";
import type { InstanceId, MachineId } from "../../../../base/ids.ts";
import type { Log } from "../../../../base/log.ts";
import { invariant } from "../../../../base/invariant.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { presentedSecret } from "../../../../http/presented-secret.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { describeMachines } from "../../../supply/hosts/index.ts";
import { hostOffline, isGone, noSuchInstance, refuseUntouched } from "../rules/refusals.ts";
import { isReachable } from "../rules/status.ts";
import { IdParams } from "../schema.ts";
import { findInstanceOf } from "../service.ts";
import { refuseCaller, type Entering } from "../shell/enter-instance.ts";
import { SessionPlaces } from "../shell/session-places.ts";
import { LogFollower } from "./log-follower.ts";
import { FollowQuery } from "./log-schema.ts";
import { OpenFollowers } from "./open-followers.ts";

const TAIL_LINES = 1_000;
const PLACE = /^\d{1,19}-\d{1,9}$/;

type LogTarget = {
  readonly instance_id: number;
  readonly service: "logs";
  readonly logs: { readonly tail_lines: number; readonly follows: boolean; readonly after?: string };
};

export type LogMeans = {
  readonly log: Log;
  /** The log of an instance, as its host sends it; undefined when its host opens no tunnel. */
  readonly openTunnel: (machineId: MachineId, target: LogTarget) => Promise<WebSocket | undefined>;
};

/** The log of an instance as it is written, in server-sent events. */
export function logRoutes({ app, database, clock }: HttpScope, { log, openTunnel }: LogMeans): void {
  const db = database.kysely;
  const followers = new OpenFollowers(clock, log);
  const places = new SessionPlaces((reason) =>
    conflict("too_many_logs", `Too many logs are followed: ${reason}. Close one first.`),
  );
  app.addHook("preClose", async () => followers.close());
  app.get(
    "/api/v0/instances/:id/logs/",
    {
      config: { access: { operation: "api.instance.follow_logs", permission: "instance_read" } },
      // A HEAD request would open a stream that nobody reads.
      exposeHeadRoute: false,
      schema: {
        summary: "Follow the log of an instance",
        params: IdParams,
        querystring: FollowQuery,
        response: {
          200: {
            description: "Server-sent events, until the container stops or either side ends the connection",
            content: { "text/event-stream": { schema: Type.Unsafe<Readable>(Type.String()) } },
          },
        },
      },
    },
    async (request, reply) => {
      const { access } = request.routeOptions.config;
      invariant(access !== undefined, "every route has its access");
      const { tail = TAIL_LINES, follow: follows = true, last_event_id: fromQuery } = request.query;
      const after = placeOf(request, fromQuery);
      // A request that the server sends to itself has no key of its own, and waits for the end of the answer.
      if (follows && presentedSecret(request) === "") {
        throw invalid("follow", "A scheduled job must set follow to false: a log that is followed may never end.");
      }
      const identity = identityOf(request);
      const entering = { identity, access, instanceId: request.params.id };
      const { instanceId, machineId } = await requireLog(db, entering, clock.now());
      const release = places.reserve({ userId: identity.userId, instanceId, machineId });
      try {
        const logs = { tail_lines: tail, follows, ...(after === undefined ? {} : { after }) };
        const tunnel = await openTunnel(machineId, { instance_id: instanceId, service: "logs", logs });
        if (tunnel === undefined) throw hostOffline(`instance ${instanceId}`);
        const mayStay = async () => (await refuseReading({ db, clock }, entering)) === undefined;
        const follower = new LogFollower(tunnel, { clock, mayStay });
        follower.output.once("close", release);
        followers.add(follower);
        return reply
          .type("text/event-stream")
          .header("x-accel-buffering", "no")
          .header("connection", "close")
          .send(follower.output);
      } catch (error) {
        release();
        throw error;
      }
    },
  );
}

/** The place behind which the client wants to go on: its browser's, which is newer, before that of its first request. */
function placeOf(request: FastifyRequest, fromQuery: string | undefined): string | undefined {
  const header = request.headers["last-event-id"];
  const [name, text] = header === undefined || header === "" ? ["last_event_id", fromQuery] : ["Last-Event-ID", header];
  if (text === undefined || text === "") return undefined;
  if (typeof text === "string" && PLACE.test(text)) return text;
  throw invalid(String(name), `${String(name)} must be the id of an event of this log.`);
}

type Found = { readonly instanceId: InstanceId; readonly machineId: MachineId };

/** The caller's instance, if its host can send its log now. */
async function requireLog(db: Reader, { identity, instanceId }: Entering, now: Date): Promise<Found> {
  const instance = await findInstanceOf(db, identity.userId, instanceId);
  if (instance === undefined || isGone(instance)) throw noSuchInstance(instanceId);
  throwRefusal(refuseUntouched(instance));
  const { id, machineId } = instance;
  const machine = (await describeMachines(db, [machineId])).get(machineId);
  if (machine === undefined || !isReachable(machine, now)) throw hostOffline(`instance ${id}`);
  if (machine.facts.follows_logs !== true) throw cannotFollow(id);
  return { instanceId: id, machineId };
}

/** The reason why a log that was opened before may not be read any more. */
async function refuseReading(
  means: Parameters<typeof refuseCaller>[0],
  entering: Entering,
): Promise<AppError | undefined> {
  const { identity, instanceId } = entering;
  const refused = await refuseCaller(means, entering, "GET");
  if (refused !== undefined) return refused;
  const instance = await findInstanceOf(means.db, identity.userId, instanceId);
  return instance === undefined || isGone(instance) ? noSuchInstance(instanceId) : undefined;
}

function cannotFollow(id: InstanceId): AppError {
  const message =
    `The agent of instance ${id}'s host is of a version that cannot follow logs. ` +
    "Ask PUT /api/v0/instances/request_logs/ for the newest lines every few seconds instead.";
  return conflict("cannot_follow_logs", message);
}
