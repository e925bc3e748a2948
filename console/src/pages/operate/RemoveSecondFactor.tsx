import { adminUserRemoveTfa, type AccountFile } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Confirm } from "../../ui/Confirm.tsx";

type Props = { readonly account: AccountFile; readonly onClose: () => void };

/** Deletes the second factors of a person who has lost them. */
export function RemoveSecondFactor({ account, onClose }: Props) {
  const remove = useAction(adminUserRemoveTfa, { changes: ["operator"], onDone: onClose });
  const id = String(account.id);
  return (
    <Confirm
      isOpen
      title={`Remove the second factor of account ${id}?`}
      action="Remove it"
      isBusy={remove.isPending}
      loss="All its authenticators, numbers and backup codes are deleted, and a password alone signs in. Make sure that it is the owner who asks."
      onConfirm={() => remove.mutate({ user_id: id })}
      onClose={onClose}
    >
      <p style={{ margin: "12px 0 0" }}>
        <AsCommand request={{ method: "DELETE", path: `/api/v0/admin/users/${id}/tfa/` }} />
      </p>
      {remove.error !== null && <Failure error={remove.error} />}
    </Confirm>
  );
}
