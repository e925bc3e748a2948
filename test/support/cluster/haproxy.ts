import path from "node:path";
import { freePort } from "../network/free-port.ts";
import { isListening } from "./is-listening.ts";
import { until } from "../until.ts";
import { removeFolder, serviceFolder, startProgram, writeDeployed, type Program } from "./program.ts";

/** A HAProxy with a file of deploy/haproxy, on a port of its own. */
export class HaProxy {
  readonly port: number;
  readonly #folder: string;
  #program: Program;

  private constructor(port: number, folder: string, program: Program) {
    this.port = port;
    this.#folder = folder;
    this.#program = program;
  }

  /** Starts it with `bind`, as the file has it, replaced by its own port, and other texts by those given. */
  static async start(source: string, bind: string, replacing: Readonly<Record<string, string>>): Promise<HaProxy> {
    const folder = await serviceFolder("haproxy", undefined);
    const port = await freePort();
    const file = path.join(folder, "haproxy.cfg");
    await writeDeployed(`haproxy/${source}`, file, { replacing: { ...replacing, [bind]: `bind 127.0.0.1:${port}` } });
    const proxy = new HaProxy(port, folder, startProgram("haproxy", ["-db", "-f", file]));
    await proxy.#untilListening();
    return proxy;
  }

  async kill(): Promise<void> {
    await this.#program.end("SIGKILL");
  }

  async restart(): Promise<void> {
    this.#program = startProgram("haproxy", ["-db", "-f", path.join(this.#folder, "haproxy.cfg")]);
    await this.#untilListening();
  }

  async stop(): Promise<void> {
    await this.#program.end("SIGKILL");
    await removeFolder(this.#folder);
  }

  async #untilListening(): Promise<void> {
    await until("HAProxy to listen", async () => {
      if (!this.#program.isRunning()) throw new Error(this.#program.output());
      return isListening(this.port);
    });
  }
}
