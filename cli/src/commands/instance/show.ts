import { instanceShow, type InstanceShowAnswer } from "../../../../sdk/src/operations.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { dollars, printJson, printLine, renderFields } from "../../output.ts";

type Instance = NonNullable<InstanceShowAnswer["instances"]>;

export async function showInstance(
  id: number,
  options: ConnectionOptions & { readonly json?: boolean },
): Promise<void> {
  const { instances: instance } = await instanceShow(connect(options), { id });
  if (instance === null) throw new UserError(`There is no instance ${id}.`, "See yours with: berth instances");
  if (options.json === true) printJson(instance);
  else printLine(renderFields(fieldsOf(instance)));
}

function fieldsOf(instance: Instance): Readonly<Record<string, string | number | null | undefined>> {
  const { num_gpus: gpuCount } = instance;
  return {
    id: instance.id,
    status: instance.actual_status ?? instance.cur_state,
    wanted: instance.intended_status,
    message: instance.status_msg,
    label: instance.label,
    image: instance.image_uuid,
    gpus: gpuCount === 0 ? "none" : `${gpuCount}x ${instance.gpu_name}`,
    machine: `${instance.machine_id}${instance.is_simulated ? " (simulated)" : ""}`,
    price: `${dollars(instance.dph_total)} per hour${instance.is_bid ? " (interruptible)" : ""}`,
    address: instance.public_ipaddr,
    ports: Object.entries(instance.ports)
      .map(([inside, [outside]]) => `${inside} -> ${outside?.HostPort ?? "-"}`)
      .join(", "),
  };
}
