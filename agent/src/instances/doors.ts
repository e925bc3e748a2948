import type { DesiredInstance } from "../wire/messages.ts";
import type { OwnContainer } from "./identity.ts";
import type { Door, SshService } from "../ssh/service.ts";

type Access = { readonly authorizedKeys: readonly string[]; readonly isForCopies: boolean };
type Keys = ReadonlyMap<number, Access>;

/**
 * The doors of the SSH server: every running container whose keys are known. `keys` are those of the newest orders, or
 * those noted before a restart of the agent, so that renters get in while the control plane is away.
 */
function doorsOf(containers: Iterable<OwnContainer>, keys: Keys): readonly Door[] {
  const doors: Door[] = [];
  for (const { container, instanceId, sshPort } of containers) {
    const access = keys.get(instanceId);
    if (access === undefined || container.phase !== "running" || container.network === null) continue;
    const { namespacePath } = container.network;
    doors.push({
      instanceId,
      containerId: container.id,
      namespacePath,
      port: sshPort,
      ...access,
    });
  }
  return doors.toSorted((a, b) => a.instanceId - b.instanceId);
}

/** Tells the SSH server its doors; simulated hosts have no SSH server. */
export class DoorKeeper {
  readonly #ssh: SshService | undefined;
  #keys: Keys;
  #said = "[]";

  constructor(ssh: SshService | undefined, noted: Readonly<Record<string, readonly string[]>> | undefined) {
    this.#ssh = ssh;
    this.#keys = new Map(
      Object.entries(noted ?? {}).map(([id, authorizedKeys]) => [Number(id), { authorizedKeys, isForCopies: false }]),
    );
  }

  setOrders(orders: Iterable<DesiredInstance>): void {
    const keys = new Map<number, Access>();
    for (const { instanceId, ssh, copies, run } of orders) {
      const access = ssh ?? copies;
      if (access === undefined) continue;
      keys.set(instanceId, { authorizedKeys: access.authorizedKeys, isForCopies: ssh === null });
      if (run === "running") this.#ssh?.expectDoor();
    }
    this.#keys = keys;
  }

  /** Tells the SSH server the doors when they have changed. */
  open(containers: Iterable<OwnContainer>): void {
    if (!this.#ssh) return;
    const doors = doorsOf(containers, this.#keys);
    const said = JSON.stringify(doors);
    if (said === this.#said) return;
    this.#said = said;
    this.#ssh.setDoors(doors);
  }

  hostKey(instanceId: number): string | null {
    return this.#ssh?.hostKey(instanceId) ?? null;
  }

  /** Keys for copies alone are left out: who read them in the notes would take them for keys of a shell. */
  notes(): Record<string, string[]> {
    const full = [...this.#keys].filter(([, { isForCopies }]) => !isForCopies);
    return Object.fromEntries(full.map(([id, { authorizedKeys }]) => [id, [...authorizedKeys]]));
  }
}
