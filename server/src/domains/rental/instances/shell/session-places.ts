import type { AppError } from "../../../../base/errors.ts";
import type { InstanceId, MachineId, UserId } from "../../../../base/ids.ts";

export type PlaceOwner = { readonly userId: UserId; readonly instanceId: InstanceId; readonly machineId: MachineId };

const PER_INSTANCE_MAX = 8;
const PER_ACCOUNT_MAX = 32;
const PER_HOST_MAX = 128;
const IN_ALL_MAX = 1_024;

/** Places for sessions in instances at this server, so that neither an account nor all of them exhaust it. */
export class SessionPlaces {
  readonly #taken = new Map<object, PlaceOwner>();
  readonly #refuse: (reason: string) => AppError;

  /** `refuse` makes the refusal of a session for which no place is left. */
  constructor(refuse: (reason: string) => AppError) {
    this.#refuse = refuse;
  }

  /** Takes a place until the returned function is called. */
  reserve(owner: PlaceOwner): () => void {
    const all = [...this.#taken.values()];
    const { userId, instanceId, machineId } = owner;
    if (all.length >= IN_ALL_MAX) throw this.#refuse("this server has as many open as it can");
    if (all.filter((one) => one.instanceId === instanceId).length >= PER_INSTANCE_MAX) {
      throw this.#refuse(`${PER_INSTANCE_MAX} of instance ${instanceId} are open`);
    }
    if (all.filter((one) => one.userId === userId).length >= PER_ACCOUNT_MAX) {
      throw this.#refuse(`${PER_ACCOUNT_MAX} of this account are open`);
    }
    if (all.filter((one) => one.machineId === machineId).length >= PER_HOST_MAX) {
      throw this.#refuse(`${PER_HOST_MAX} of its host are open`);
    }
    const place = {};
    this.#taken.set(place, owner);
    return () => void this.#taken.delete(place);
  }
}
