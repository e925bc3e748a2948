import { NativeSelect, NumberInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { volumeList, type Volume } from "../../../sdk/src/index.ts";
import { ask } from "../api/query.ts";
import type { OfferRow } from "../pages/market/offers.ts";
import { gigabytes } from "../text/size.ts";
import { visibleText } from "../text/hostile.ts";
import type { RentChoice, VolumeChoice } from "./rent-choice.ts";

const SIZE_GB_DEFAULT = 16;
const PATH_DEFAULT = "/data";

type Props = {
  readonly offer: OfferRow;
  readonly volume: VolumeChoice;
  readonly set: (changed: Partial<RentChoice>) => void;
};

/** Disk space that outlives the instance: a volume that the renter has on this machine, or a new one of its space. */
export function RentVolume({ offer, volume, set }: Props) {
  const list = useQuery(ask("volume.list", volumeList, { query: { type: "all_volume" } })).data;
  const here = (list?.volumes ?? []).filter(
    ({ machine_id: machine }) => machine !== null && machine === offer.machine_id,
  );
  const { avail_vol_ask_id: spaceId, avail_vol_size: spaceGb = 0 } = offer;
  const hasSpace = spaceId !== undefined && spaceGb >= 1;
  if (here.length === 0 && !hasSpace) return undefined;
  const path = volume.kind === "none" ? PATH_DEFAULT : volume.path;
  const choose = (word: string) => set({ volume: read(word, path) });
  const read = (word: string, at: string): VolumeChoice => {
    if (word === "new" && hasSpace) {
      return { kind: "new", spaceId, sizeGb: Math.min(SIZE_GB_DEFAULT, Math.floor(spaceGb)), path: at };
    }
    return word === "" ? { kind: "none" } : { kind: "own", id: Number(word), path: at };
  };
  return (
    <>
      <NativeSelect
        label="Volume"
        description="Disk space on this machine that stays when the instance is destroyed"
        value={volume.kind === "own" ? String(volume.id) : volume.kind === "new" ? "new" : ""}
        data={[
          { value: "", label: "None" },
          ...here.map((one) => ({ value: String(one.id), label: nameOf(one) })),
          ...(hasSpace ? [{ value: "new", label: `A new one, of at most ${gigabytes(spaceGb)}` }] : []),
        ]}
        onChange={(event) => choose(event.currentTarget.value)}
      />
      {volume.kind === "new" && (
        <NumberInput
          label="Size of the volume in GB"
          min={1}
          max={Math.floor(spaceGb)}
          value={volume.sizeGb}
          onChange={(value) => set({ volume: { ...volume, sizeGb: Number(value) || 1 } })}
        />
      )}
      {volume.kind !== "none" && (
        <TextInput
          label="Path of the volume"
          value={volume.path}
          onChange={(event) => set({ volume: { ...volume, path: event.currentTarget.value } })}
          spellCheck={false}
        />
      )}
    </>
  );
}

function nameOf({ id, label, disk_space: gb }: Volume): string {
  return `${label === "" ? `Volume ${id}` : `${id} ${visibleText(label)}`}, ${gigabytes(gb)}`;
}
