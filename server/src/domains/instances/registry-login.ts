import type { InstanceId } from "../../base/ids.ts";
import type { Sealer } from "../../base/seal.ts";
import type { LaunchSettings } from "../templates/index.ts";

/** The settings as they may be stored: the password for the registry is sealed for this instance. */
export function sealLogin(launch: LaunchSettings, id: InstanceId, sealer: Sealer): LaunchSettings {
  const { registry_auth: login } = launch;
  if (login === null) return launch;
  return { ...launch, registry_auth: { ...login, password: sealer.seal(login.password, contextOf(id)) } };
}

/**
 * The login of stored settings as the host needs it. One that was sealed under a secret that the server has no more is
 * none: the pull then fails with the registry's own words, and only where it needs a login.
 */
export function openLogin(launch: LaunchSettings, id: InstanceId, sealer: Sealer): LaunchSettings["registry_auth"] {
  const { registry_auth: login } = launch;
  const password = login && sealer.open(login.password, contextOf(id));
  return login && password !== null && password !== undefined ? { ...login, password } : null;
}

function contextOf(id: InstanceId): string {
  return `instance registry password ${id}`;
}
