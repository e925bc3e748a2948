import type { WebSocket } from "ws";
import { conflict } from "../../../../base/errors.ts";
import type { Log } from "../../../../base/log.ts";
import { invariant } from "../../../../base/invariant.ts";
import { withTransaction } from "../../../../db/transaction.ts";
import { identityOf, type HttpScope } from "../../../../http/server.ts";
import { recordAudit } from "../../../people/accounts/index.ts";
import { IdParams } from "../schema.ts";
import { bridgeTerminal } from "./bridge-terminal.ts";
import { cutReason, enterInstance, refuseStay } from "./enter-instance.ts";
import { ENDINGS, OpenTerminals, type Ending, type OpenTerminal } from "./open-terminals.ts";
import { SessionPlaces } from "./session-places.ts";
import { openShellSession, type ShellMeans, type ShellSession } from "./shell-session.ts";
import { TerminalQuery } from "./shell-schema.ts";

const SIZE = { cols: 80, rows: 24 } as const;

/** The terminal of an instance, over a WebSocket. It is described apart, as no JSON goes in or out. */
export function terminalRoutes(
  { app, database, clock, webSockets }: HttpScope,
  { log, ...means }: Omit<ShellMeans, "clock"> & { readonly log: Log },
): void {
  const terminals = new OpenTerminals(clock, log);
  const places = new SessionPlaces((reason) =>
    conflict("too_many_terminals", `Too many terminals: ${reason}. Close one first.`),
  );
  app.addHook("preClose", () => terminals.close());
  app.get(
    "/api/v0/instances/:id/terminal/",
    {
      config: { access: { operation: "api.instance.terminal", permission: "instance_write" } },
      schema: { hide: true, params: IdParams, querystring: TerminalQuery },
    },
    async (request, reply) => {
      const { access } = request.routeOptions.config;
      invariant(access !== undefined, "every route has its access");
      webSockets.requireUpgrade(request);
      const identity = identityOf(request);
      const entering = { identity, access, instanceId: request.params.id };
      const run = await enterInstance(database.kysely, entering, clock.now());
      const release = places.reserve({ ...run, userId: identity.userId });
      let session: ShellSession | undefined;
      try {
        session = await openShellSession({ ...means, clock }, run);
        const channel = await session.shell({ ...SIZE, ...request.query });
        await withTransaction(database, clock, (tx) =>
          recordAudit(tx, identity, {
            ipAddress: request.ip,
            action: "api.instance.terminal",
            args: { id: run.instanceId },
          }),
        );
        const socket = await webSockets.open(request, reply);
        if (socket === undefined) throw new Error("the client left");
        const { over } = session;
        const terminal = terminalOf(socket, session, {
          ...{ instanceId: run.instanceId, nowMs: clock.monotonicMs() },
          refusal: () => refuseStay({ db: database.kysely, clock }, entering, run),
        });
        socket.once("close", () => {
          release();
          terminal.end(ENDINGS.lost);
        });
        let exitCode: number | undefined;
        channel.once("exit", (code: unknown) => (exitCode = typeof code === "number" ? code : undefined));
        channel.once("close", () => terminal.end(exitCode === undefined ? ENDINGS.lost : ended(exitCode)));
        over.addEventListener("abort", () => terminal.end(ENDINGS.lost), { once: true });
        terminals.add(terminal);
        bridgeTerminal(socket, channel, {
          onMove: () => (terminal.lastUseMs = clock.monotonicMs()),
          onBadMessage: terminal.end,
        });
      } catch (error) {
        release();
        session?.close();
        if (!reply.sent) throw error;
      }
      return reply;
    },
  );
}

function ended(code: number): Ending {
  return { code: 1000, reason: `The shell ended with code ${code}.` };
}

/** An open terminal whose first ending is the one that its client is told. */
function terminalOf(
  socket: WebSocket,
  session: ShellSession,
  { nowMs, ...of }: Pick<OpenTerminal, "instanceId" | "refusal"> & { readonly nowMs: number },
): OpenTerminal {
  return {
    ...of,
    socket,
    lastUseMs: nowMs,
    lastAnswerMs: nowMs,
    end: ({ code, reason }) => {
      socket.resume();
      socket.close(code, cutReason(reason));
      session.close();
    },
  };
}
