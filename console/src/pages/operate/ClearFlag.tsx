import { useDisclosure } from "@mantine/hooks";
import { adminFlagClear } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { ReasonConfirm } from "./ReasonConfirm.tsx";

/** A button that clears a flag of a host, after a reason was given. */
export function ClearFlag({ id }: { readonly id: number }) {
  const [isOpen, dialog] = useDisclosure(false);
  const clear = useAction(adminFlagClear, { changes: ["operator"], onDone: dialog.close });
  return (
    <>
      <ActionButton onClick={dialog.open}>Clear</ActionButton>
      {isOpen && (
        <ReasonConfirm
          title={`Clear flag ${id}?`}
          action="Clear the flag"
          isBusy={clear.isPending}
          error={clear.error}
          onClose={dialog.close}
          onConfirm={(reason) => clear.mutate({ id: String(id), body: { reason } })}
          asCommand={(reason) => ({
            command: ["admin", "clear-flag", String(id), "--reason", reason],
            request: { method: "PUT", path: `/api/v0/admin/flags/${id}/clear/`, body: { reason } },
          })}
        >
          The flag no longer holds the payouts of its host, who reads the reason. It is raised again when the same is
          seen again.
        </ReasonConfirm>
      )}
    </>
  );
}
