import { useDisclosure } from "@mantine/hooks";
import { adminReleasePayouts } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { ReasonConfirm } from "./ReasonConfirm.tsx";

/** A button that releases a hold on payouts, after a reason was given. */
export function ReleaseHold({ id }: { readonly id: number }) {
  const [isOpen, dialog] = useDisclosure(false);
  const release = useAction(adminReleasePayouts, { changes: ["operator"], onDone: dialog.close });
  return (
    <>
      <ActionButton onClick={dialog.open}>Release</ActionButton>
      {isOpen && (
        <ReasonConfirm
          title={`Release hold ${id}?`}
          action="Release the hold"
          isBusy={release.isPending}
          error={release.error}
          onClose={dialog.close}
          onConfirm={(reason) => release.mutate({ id, body: { reason } })}
          asCommand={(reason) => ({
            command: ["admin", "release-payout", String(id), "--reason", reason],
            request: { method: "PUT", path: `/api/v0/admin/payout_holds/${id}/`, body: { reason } },
          })}
        >
          The host is paid with the next payout, unless another hold is open. The host reads the reason.
        </ReasonConfirm>
      )}
    </>
  );
}
