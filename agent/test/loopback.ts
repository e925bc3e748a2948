import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as realTime } from "node:timers/promises";

/**
 * A connection of its own through the kernel's loopback, which delivers in order: when a byte has come through, so have
 * all bytes that were sent on other connections before. A test with a clock of its own waits for that, however busy the
 * machine is.
 */
export class Loopback {
  readonly #near: Socket;
  readonly #far: Socket;

  private constructor(near: Socket, far: Socket) {
    this.#near = near.unref();
    this.#far = far.unref();
  }

  static async open(): Promise<Loopback> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (typeof address !== "object" || address === null) throw new Error("a listening server has a port");
    const near = connect({ port: address.port, host: "127.0.0.1", noDelay: true });
    const [far]: Socket[] = await once(server, "connection");
    server.close();
    if (far === undefined) throw new Error("a connection has two ends");
    return new Loopback(near, far);
  }

  /** Resolves when everything that was sent before has come, and all its readers had a turn. */
  async pass(): Promise<void> {
    const arrival = once(this.#far, "data");
    this.#near.write("x");
    await arrival;
    await realTime(0);
  }

  close(): void {
    this.#near.destroy();
    this.#far.destroy();
  }
}
