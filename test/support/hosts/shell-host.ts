import { randomBytes } from "node:crypto";
import type { TestContext } from "node:test";
import ssh2, { type ServerChannel } from "ssh2";
import { systemClock } from "../../../agent/src/base/clock.ts";
import { silentLog } from "../../../agent/src/base/log.ts";
import { SimulatedShells } from "../../../agent/src/simulated/shell/server.ts";
import { deriveHostKey } from "../../../agent/src/ssh/host-keys.ts";
import { injectSocket } from "../../../agent/src/ssh/transport.ts";
import { openTunnel } from "../../../agent/src/ssh/tunnel.ts";
import type { FakeHostOptions } from "./fake-host.ts";

type Shells = Pick<FakeHostOptions, "enter" | "facts">;

/** Options of a fake host whose instances have the shells and files of a simulated one. */
export function simulatedShells(t: Pick<TestContext, "after">): Shells {
  const shells = new SimulatedShells({ clock: systemClock, log: silentLog, isRunning: () => true });
  t.after(() => shells.close());
  return {
    facts: { is_simulated: true },
    enter: ({ instance_id: id, session_key: key = "" }, url, token) => void shells.connect(id, url, token, key),
  };
}

/** Options of a fake host at whose shells the test itself sits. */
export function ownShells(t: Pick<TestContext, "after">, serve: (channel: ServerChannel) => void): Shells {
  const hostKey = deriveHostKey(randomBytes(32), 0).privatePem;
  const connections = new Set<{ destroy(): void }>();
  t.after(() => {
    for (const connection of connections) connection.destroy();
  });
  const open = async (url: string, token: string) => {
    const stream = await openTunnel(url, token);
    connections.add(stream);
    stream.on("error", () => undefined);
    const server = new ssh2.Server({ hostKeys: [hostKey] });
    server.on("connection", (client) => {
      client.on("error", () => undefined);
      client.on("authentication", (context) => context.accept());
      client.on("session", (accept) => {
        const session = accept();
        session.on("pty", (acceptPty) => acceptPty?.());
        session.on("window-change", (acceptSize) => acceptSize?.());
        session.once("shell", (acceptShell) => serve(acceptShell()));
      });
    });
    injectSocket(server, stream);
  };
  return { facts: { is_simulated: true }, enter: (_request, url, token) => void open(url, token) };
}
