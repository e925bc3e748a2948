import { instanceList, instanceShow, type InstanceShowAnswer } from "../../sdk/src/operations.ts";
import type { Client } from "../../sdk/src/client.ts";
import { UserError } from "./failure.ts";

export type Instance = NonNullable<InstanceShowAnswer["instances"]>;

/** The instance of this id; without an id, the only running one. */
export async function findInstance(client: Client, id: number | undefined): Promise<Instance> {
  if (id !== undefined) {
    const { instances: instance } = await instanceShow(client, { id });
    if (instance === null) throw new UserError(`There is no instance ${id}.`, "See yours with: berth instances");
    return instance;
  }
  const { instances } = await instanceList(client);
  const running = instances.filter((instance) => instance.actual_status === "running");
  const [only] = running;
  if (only === undefined) throw new UserError("None of your instances runs.", "See yours with: berth instances");
  if (running.length > 1) {
    const ids = running.map((instance) => instance.id).join(", ");
    throw new UserError(`Several of your instances run: ${ids}.`, "Say which one.", 2);
  }
  return only;
}
