import { Group, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { adminPayout, adminSettlePayout, type AdminPayout } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { ask } from "../../api/query.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Answer } from "../../parts/Answer.tsx";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { money } from "../../text/money.ts";
import { Confirm } from "../../ui/Confirm.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { words } from "./links.tsx";
import { ReasonConfirm } from "./ReasonConfirm.tsx";
import { Facts } from "./Tiles.tsx";

type Props = { readonly payout: AdminPayout };
type DialogProps = Props & { readonly onClose: () => void };

/** Buttons that record how a payout ended. */
export function SettlePayout({ payout }: Props) {
  const [verdict, setVerdict] = useState<"paid" | "failed">();
  const close = () => setVerdict(undefined);
  if (payout.state === "failed") return null;
  return (
    <Group gap={8} wrap="nowrap" justify="flex-end">
      {payout.state !== "paid" && <ActionButton onClick={() => setVerdict("paid")}>Paid</ActionButton>}
      <ActionButton onClick={() => setVerdict("failed")}>
        {payout.state === "paid" ? "Came back" : "Failed"}
      </ActionButton>
      {verdict === "paid" && <Paid payout={payout} onClose={close} />}
      {verdict === "failed" && <Failed payout={payout} onClose={close} />}
    </Group>
  );
}

function Paid({ payout: { id, amount }, onClose }: DialogProps) {
  const [reference, setReference] = useState("");
  const target = useQuery(ask("operator.payout", adminPayout, { id }));
  const settle = useAction(adminSettlePayout, { changes: ["operator"], onDone: onClose });
  const body = { state: "paid", reference: reference.trim() } as const;
  return (
    <Confirm
      isOpen
      title={`Record payout ${id} of ${money(amount)} as paid?`}
      action="Record as paid"
      isDangerous={false}
      isBusy={settle.isPending}
      onClose={onClose}
      onConfirm={() => settle.mutate({ id, body })}
      loss={
        <Answer query={target} rows={3}>
          {({ payout_method: method }) =>
            method === null ? (
              <>The host has not said where to send it.</>
            ) : (
              <Facts
                facts={[
                  ["By", method.method],
                  ...Object.entries(method.details).map(
                    ([name, value]) => [words(name), <HostileText key={name} text={value} />] as const,
                  ),
                ]}
              />
            )
          }
        </Answer>
      }
    >
      <TextInput
        mt={12}
        mb={12}
        label="Reference of the payment where you made it"
        required
        value={reference}
        onChange={(event) => setReference(event.currentTarget.value)}
        data-autofocus
      />
      <AsCommand
        command={["admin", "payout-paid", String(id), "--reference", body.reference]}
        request={{ method: "PUT", path: `/api/v0/admin/payouts/${id}/`, body }}
      />
      {settle.error !== null && <Failure error={settle.error} />}
    </Confirm>
  );
}

function Failed({ payout: { id, amount }, onClose }: DialogProps) {
  const settle = useAction(adminSettlePayout, { changes: ["operator"], onDone: onClose });
  return (
    <ReasonConfirm
      title={`Did payout ${id} fail or come back?`}
      action="Record as failed"
      isDangerous
      isBusy={settle.isPending}
      error={settle.error}
      onClose={onClose}
      onConfirm={(reason) => settle.mutate({ id, body: { state: "failed", reason } })}
      asCommand={(reason) => ({
        command: ["admin", "payout-failed", String(id), "--reason", reason],
        request: { method: "PUT", path: `/api/v0/admin/payouts/${id}/`, body: { state: "failed", reason } },
      })}
    >
      {money(amount)} goes back to the earnings of the host, who reads the reason.
    </ReasonConfirm>
  );
}
