import { volumeDelete, type Volume } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { gigabytes } from "../../text/size.ts";
import { Confirm } from "../../ui/Confirm.tsx";
import { HostileText } from "../../ui/HostileText.tsx";

/** Asks before a volume is deleted; its number has to be typed where there is data on it. */
export function DeleteVolume({ volume, onClose }: { readonly volume: Volume; readonly onClose: () => void }) {
  const { id, label, used_space: used } = volume;
  const remove = useAction(volumeDelete, { changes: ["volume", "balance", "offer"], onDone: onClose });
  const body = { id };
  return (
    <Confirm
      isOpen
      title={`Delete volume ${id}?`}
      action="Delete volume"
      typed={used > 0 ? String(id) : undefined}
      loss={
        <>
          <p>
            {used > 0 ? `${gigabytes(used)} of data on ` : "Nothing is stored on "}
            <HostileText text={label} />
            {used > 0 ? " will be lost. It cannot be brought back." : ", as its host reported it last."} It costs
            nothing from then on.
          </p>
          <AsCommand
            command={["volume", "delete", String(id)]}
            request={{ method: "DELETE", path: "/api/v0/volumes/", body }}
          />
        </>
      }
      isBusy={remove.isPending}
      onConfirm={() => remove.mutate({ body })}
      onClose={onClose}
    >
      {remove.error !== null && <Failure error={remove.error} />}
    </Confirm>
  );
}
