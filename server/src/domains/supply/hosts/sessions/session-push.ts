import type { DesiredInstance, DesiredVolume, ServerMessage } from "../../../../../../protocol/index.ts";
import { SessionOrders, type OpenTasks } from "./session-orders.ts";

export type DesiredSet = {
  readonly instances: readonly DesiredInstance[];
  readonly volumes: readonly DesiredVolume[];
  /** Ids of instances that are lost with a restored database, and that hosts keep; empty without a restore. */
  readonly keptInstances?: readonly { readonly after: number; readonly until: number }[];
};

export type PushPorts = {
  readonly loadDesired: () => Promise<DesiredSet>;
  readonly loadTasks: () => Promise<OpenTasks>;
  readonly send: (message: ServerMessage) => void;
  /** Called when the desired set or the tasks could not be read. */
  readonly onFailure: (error: unknown) => void;
};

/** Sends one agent its desired set and its tasks. Calls during a read become one more read. */
export class SessionPush {
  readonly orders = new SessionOrders();
  readonly #ports: PushPorts;
  #isPushing = false;
  #isDesiredDue = false;
  #areTasksDue = false;

  constructor(ports: PushPorts) {
    this.#ports = ports;
  }

  /** Sends the desired set soon. */
  pushDesired(): void {
    this.#isDesiredDue = true;
    if (!this.#isPushing) void this.#pushWhileDue();
  }

  /** Sends the tasks soon, after a desired set that is due: tasks may be about its instances. */
  pushTasks(): void {
    this.#areTasksDue = true;
    if (!this.#isPushing) void this.#pushWhileDue();
  }

  /** Sends both soon. */
  pushAll(): void {
    this.#areTasksDue = true;
    this.pushDesired();
  }

  async #pushWhileDue(): Promise<void> {
    this.#isPushing = true;
    try {
      while (this.#isDesiredDue || this.#areTasksDue) {
        if (!this.#isDesiredDue) {
          this.#areTasksDue = false;
          for (const message of this.orders.nextTasks(await this.#ports.loadTasks())) this.#ports.send(message);
          continue;
        }
        this.#isDesiredDue = false;
        const { instances, volumes, keptInstances = [] } = await this.#ports.loadDesired();
        const version = this.orders.nextVersion(instances);
        const kept = keptInstances.length === 0 ? {} : { kept_instances: [...keptInstances] };
        this.#ports.send({ kind: "desired", version, instances: [...instances], volumes: [...volumes], ...kept });
      }
    } catch (error) {
      this.#ports.onFailure(error);
    } finally {
      this.#isPushing = false;
    }
  }
}
