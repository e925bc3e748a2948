import type { Parameters } from "../../../../base/access.ts";
import { callerRefusal, narrowed, type AccessOf, type ActionRequest } from "../../../../base/allowed-action.ts";
import type { Identity } from "../../../../base/identity.ts";
import { mapActions, type Action, type AllowedActions } from "../rules/allowed-actions.ts";

const onlyId = (id: number): Parameters => ({ id });

export const ACTION_REQUESTS: Readonly<Record<Action, ActionRequest>> = {
  start: { method: "PUT", path: "/api/v0/instances/1/", parameters: (id) => ({ id, state: "running" }) },
  stop: { method: "PUT", path: "/api/v0/instances/1/", parameters: (id) => ({ id, state: "stopped" }) },
  reboot: { method: "PUT", path: "/api/v0/instances/reboot/1/", parameters: onlyId },
  recycle: { method: "PUT", path: "/api/v0/instances/recycle/1/", parameters: onlyId },
  destroy: { method: "DELETE", path: "/api/v0/instances/1/", parameters: onlyId },
  change_bid: { method: "PUT", path: "/api/v0/instances/bid_price/1/" },
  label: { method: "PUT", path: "/api/v0/instances/1/" },
  change_traffic_limit: { method: "PUT", path: "/api/v0/instances/1/" },
  update_template: { method: "PUT", path: "/api/v0/instances/update_template/1/" },
  attach_ssh_key: { method: "POST", path: "/api/v0/instances/1/ssh/" },
  snapshot: { method: "POST", path: "/api/v0/instances/take_snapshot/1/" },
  copy: { method: "PUT", path: "/api/v0/commands/copy_direct/" },
  execute: { method: "PUT", path: "/api/v0/instances/command/1/" },
  logs: { method: "PUT", path: "/api/v0/instances/request_logs/1/" },
  terminal: { method: "GET", path: "/api/v0/instances/1/terminal/", parameters: onlyId, isWriting: true },
  files: { method: "GET", path: "/api/v0/instances/1/files/", parameters: onlyId, isWriting: true },
  prepay: { method: "PUT", path: "/api/v0/instances/prepay/1/" },
};

type WithActions = { readonly id: number; readonly allowed_actions: AllowedActions };

/**
 * Narrows the actions of records to those that the caller's key may call. The refusal of a key comes before that of the
 * instance, as it does in a request.
 */
export function callerActions(
  identity: Identity,
  accessOf: AccessOf,
): <Record extends WithActions>(record: Record) => Record {
  const refusals = new Map<Action, (id: number) => string | undefined>();
  mapActions((action) => {
    refusals.set(action, callerRefusal(identity, ACTION_REQUESTS[action], accessOf));
    return { allowed: true };
  });
  return (record) => ({
    ...record,
    allowed_actions: mapActions((action) =>
      narrowed(refusals.get(action)?.(record.id), record.allowed_actions[action]),
    ),
  });
}
