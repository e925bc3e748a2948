import { isPrivateRegistry, isRegistryAllowed, registryIn } from "../../../../../../protocol/index.ts";
import { invalid, type AppError, type ErrorDetails } from "../../../../base/errors.ts";
import type { MachineId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { listAllowedRegistries, listAllowingMachines, listRegistryAllowances } from "./store.ts";

/** An image and the request field that named it. */
export type NamedImage = { readonly image: string; readonly field: string };

/** The registry of an image when its name leads into a host's private network; undefined for all others. */
function privateRegistryOf(image: string): string | undefined {
  const registry = registryIn(image);
  return registry !== undefined && isPrivateRegistry(registry) ? registry : undefined;
}

/** Throws when the image's registry is in a private network and no machine there allows it. */
export async function requireReachableRegistry(db: Reader, { image, field }: NamedImage): Promise<void> {
  const registry = privateRegistryOf(image);
  if (registry === undefined || isRegistryAllowed(registry, await listAllowedRegistries(db))) return;
  throw refusal(field, registry, { reason: "No host allows it." });
}

/** Machines that allow the private registry of an image. */
export type AllowedMachines = { readonly registry: string; readonly machineIds: ReadonlySet<MachineId> };

/** The machines that may pull an image; undefined for an image that every machine may pull. */
export async function findAllowedMachines(db: Reader, image: string): Promise<AllowedMachines | undefined> {
  const registry = privateRegistryOf(image);
  if (registry === undefined) return undefined;
  const allowing = (await listAllowingMachines(db)).filter(({ allowed }) => isRegistryAllowed(registry, allowed));
  return { registry, machineIds: new Set(allowing.map(({ machineId }) => machineId)) };
}

/** Reasons why these images cannot be used on their machines; images that can are missing. */
export async function findBarredImages<Key>(
  db: Reader,
  wanted: readonly (NamedImage & Pick<ErrorDetails, "extra"> & { readonly key: Key; readonly machineId: MachineId })[],
): Promise<ReadonlyMap<Key, AppError>> {
  const doubtful = wanted.flatMap((one) => {
    const registry = privateRegistryOf(one.image);
    return registry === undefined ? [] : [{ ...one, registry }];
  });
  if (doubtful.length === 0) return new Map();
  const allowances = await listRegistryAllowances(
    db,
    doubtful.map(({ machineId }) => machineId),
  );
  return new Map(
    doubtful.flatMap(({ key, machineId, field, registry, extra = {} }) => {
      if (isRegistryAllowed(registry, allowances.get(machineId) ?? [])) return [];
      const reason = `The host of machine ${machineId} does not allow it.`;
      return [[key, refusal(field, registry, { reason, extra })]];
    }),
  );
}

/** Throws when the image cannot be used on the machine. */
export async function requireRegistryOn(db: Reader, machineId: MachineId, named: NamedImage): Promise<void> {
  const refused = (await findBarredImages(db, [{ ...named, key: machineId, machineId }])).get(machineId);
  if (refused !== undefined) throw refused;
}

function refusal(
  field: string,
  registry: string,
  { reason, extra = {} }: { readonly reason: string } & Pick<ErrorDetails, "extra">,
): AppError {
  const message = `${field}: the registry ${registry} is in a private network. ${reason}`;
  return invalid(field, message, "private_registry", { extra });
}
