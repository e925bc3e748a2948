/**
 * The control of the HTTP benchmark: the bare framework in a process of its own, which answers a constant. The parent
 * sends the text to answer; `/text` sends it as it is and `/object` serialises the same value at each request.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fastify } from "fastify";

export type ConstantServer = {
  readonly pid: number;
  readonly port: number;
  stop(): void;
};

export async function startConstantServer(text: string): Promise<ConstantServer> {
  const child: ChildProcess = fork(import.meta.filename);
  child.send({ text });
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  return { pid: child.pid ?? 0, port, stop: () => child.disconnect() };
}

if (import.meta.main) {
  process.once("message", ({ text }: { text: string }) => {
    const app = fastify();
    const value: unknown = JSON.parse(text);
    app.route({
      method: ["GET", "POST"],
      url: "/text",
      handler: async (_request, reply) => reply.type("application/json").send(text),
    });
    app.get("/object", async () => value);
    app.listen({ host: "127.0.0.1", port: 0 }).then(
      (address) => process.send?.({ port: Number(new URL(address).port) }),
      () => process.exit(1),
    );
  });
  process.on("disconnect", () => process.exit());
}
