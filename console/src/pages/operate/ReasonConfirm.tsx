import { Textarea } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { Confirm } from "../../ui/Confirm.tsx";

type Request = { readonly method: string; readonly path: string; readonly body?: unknown };

type Props = {
  readonly title: string;
  readonly action: string;
  /** Says what happens, and who reads the reason. */
  readonly children: ReactNode;
  readonly isDangerous?: boolean;
  readonly isBusy: boolean;
  readonly error: unknown;
  readonly onConfirm: (reason: string) => void;
  readonly onClose: () => void;
  /** The same act as a command and as a request; absent for what only a browser can do. */
  readonly asCommand?: (reason: string) => { readonly command?: readonly string[]; readonly request: Request };
};

/** A question before an act of an administrator, which needs a reason. */
export function ReasonConfirm({ title, action, children, isDangerous = false, isBusy, error, ...more }: Props) {
  const { onConfirm, onClose, asCommand } = more;
  const [reason, setReason] = useState("");
  return (
    <Confirm
      isOpen
      title={title}
      action={action}
      isDangerous={isDangerous}
      isBusy={isBusy}
      loss={children}
      onClose={onClose}
      onConfirm={() => onConfirm(reason.trim())}
    >
      <Textarea
        mt={12}
        mb={12}
        label="Reason"
        autosize
        minRows={2}
        maxRows={8}
        maxLength={500}
        required
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        data-autofocus
      />
      {asCommand !== undefined && <AsCommand {...asCommand(reason.trim() === "" ? "…" : reason.trim())} />}
      {error !== null && error !== undefined && <Failure error={error} />}
    </Confirm>
  );
}
