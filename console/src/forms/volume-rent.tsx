import { useState } from "react";
import { volumeCopy, type Volume, type VolumeOffer } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import { rentSpace } from "../pages/volumes/volumes.ts";
import { ActionButton } from "../parts/ActionButton.tsx";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";
import { hourly, money } from "../text/money.ts";
import { gigabytes } from "../text/size.ts";
import { Confirm } from "../ui/Confirm.tsx";

type Props = {
  readonly offer: VolumeOffer;
  /** The volume to clone; undefined rents an empty one. */
  readonly source: Volume | undefined;
  readonly isNetwork: boolean;
  readonly sizeGb: number;
  readonly name: string;
  readonly onDone: () => void;
};

const HOURS_A_MONTH = 720;

/** The button that rents a volume of one offer, or clones one into it, with a question that says what it costs. */
export function RentVolume({ offer, source, isNetwork, sizeGb, name, onDone }: Props) {
  const [isAsked, setAsked] = useState(false);
  const done = () => {
    setAsked(false);
    onDone();
  };
  const nouns = ["volume", "balance", "offer"] as const;
  const rent = useAction(rentSpace, { changes: nouns, onDone: done });
  const clone = useAction(volumeCopy, { changes: nouns, onDone: done });
  const word = source === undefined ? "Rent" : "Clone";
  const rental = { id: offer.id, size: sizeGb, ...(name.trim() === "" ? {} : { name: name.trim() }) };
  const copy = source && { src_id: source.id, dst_id: offer.id, size: sizeGb };
  const perHour = (offer.storage_cost * sizeGb) / HOURS_A_MONTH;
  const error = rent.error ?? clone.error;
  return (
    <>
      <ActionButton size="compact-xs" onClick={() => setAsked(true)}>
        {word}
      </ActionButton>
      <Confirm
        isOpen={isAsked}
        title={
          source === undefined ? `Rent a volume of ${gigabytes(sizeGb)}?` : `Clone volume ${source.id} to a new one?`
        }
        action={`${word} for ${hourly(perHour)}`}
        isDangerous={false}
        loss={
          <>
            <p>
              {hourly(perHour)}, {money(perHour * HOURS_A_MONTH)} a month of 30 days, until you delete it. What its
              first six hours cost is set aside.
            </p>
            <AsCommand
              command={
                source === undefined
                  ? [
                      ...["volume", "rent", String(offer.id), "--size", String(sizeGb)],
                      ...(name.trim() === "" ? [] : ["--name", name.trim()]),
                      ...(isNetwork ? ["--network"] : []),
                    ]
                  : ["volume", "clone", String(source.id), String(offer.id), "--size", String(sizeGb)]
              }
              request={
                copy === undefined
                  ? { method: "PUT", path: isNetwork ? "/api/v0/network_volumes/" : "/api/v0/volumes/", body: rental }
                  : { method: "POST", path: "/api/v0/volumes/copy/", body: copy }
              }
            />
          </>
        }
        isBusy={rent.isPending || clone.isPending}
        onConfirm={() => (copy === undefined ? rent.mutate({ isNetwork, body: rental }) : clone.mutate({ body: copy }))}
        onClose={() => setAsked(false)}
      >
        {error !== null && <Failure error={error} />}
      </Confirm>
    </>
  );
}
