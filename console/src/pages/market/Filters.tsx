import { Checkbox, NativeSelect, NumberInput, SegmentedControl, TextInput } from "@mantine/core";
import { conditionOf, withCondition } from "../../text/conditions.ts";
import { Icon } from "../../ui/Icon.tsx";
import type { OfferType } from "./fields.ts";
import classes from "./market.module.css";

type Props = {
  readonly q: string;
  readonly type: OfferType;
  readonly gpuNames: readonly string[];
  /** Called at each key in the text. */
  readonly onType: (text: string) => void;
  /** Called when one of the fields changed the text. */
  readonly onText: (text: string) => void;
  readonly onChooseType: (type: OfferType) => void;
};

const TYPES: readonly { readonly value: OfferType; readonly label: string }[] = [
  { value: "ondemand", label: "On demand" },
  { value: "bid", label: "Interruptible" },
  { value: "reserved", label: "Reserved" },
];

/** Fields with a number: the condition that each one shows, and its label with the unit. */
const LIMITS = [
  { field: "num_gpus", operator: ">=", label: "GPUs from" },
  { field: "dph_total", operator: "<=", label: "$/h up to" },
  { field: "gpu_ram", operator: ">=", label: "GB of VRAM from" },
  { field: "reliability", operator: ">=", label: "Reliability from" },
] as const;

/** The search as a text, and as fields that change the same text. */
export function Filters({ q, type, gpuNames, onType, onText, onChooseType }: Props) {
  const set = (field: string, operator: string, value: string | undefined) =>
    onText(withCondition(q, value === undefined ? { field, operator, value } : { field, operator, value }));
  const gpu = conditionOf(q, "gpu_name", "=")?.replaceAll("_", " ") ?? "";
  return (
    <search className={classes["filters"]} aria-label="Offers">
      <TextInput
        className={classes["text"] ?? ""}
        aria-label="Conditions"
        placeholder="4090 num_gpus>=2 dph_total<2.5"
        value={q}
        onChange={(event) => onType(event.currentTarget.value)}
        leftSection={<Icon name="search" />}
        data-page-search
        spellCheck={false}
        autoComplete="off"
      />
      <div className={classes["fields"]}>
        <NativeSelect
          label="GPU"
          size="xs"
          value={gpu}
          data={[{ value: "", label: "Any" }, ...gpuNames.map((name) => ({ value: name, label: name }))]}
          onChange={(event) => set("gpu_name", "=", event.currentTarget.value || undefined)}
        />
        {LIMITS.map(({ field, operator, label }) => (
          <NumberInput
            key={field}
            label={label}
            size="xs"
            min={0}
            hideControls
            value={conditionOf(q, field, operator) ?? ""}
            onChange={(value) => set(field, operator, value === "" ? undefined : String(value))}
          />
        ))}
        <TextInput
          label="Country"
          size="xs"
          placeholder="NO"
          maxLength={2}
          value={conditionOf(q, "geolocation", "=") ?? ""}
          onChange={(event) => set("geolocation", "=", event.currentTarget.value.toUpperCase() || undefined)}
        />
        <Checkbox
          label="Verified only"
          size="xs"
          checked={conditionOf(q, "verified", "=") === "true"}
          onChange={(event) => set("verified", "=", event.currentTarget.checked ? "true" : undefined)}
        />
        <SegmentedControl
          size="xs"
          aria-label="Kind of rental"
          value={type}
          data={TYPES.map(({ value, label }) => ({ value, label }))}
          onChange={(value) => onChooseType(TYPES.find((one) => one.value === value)?.value ?? "ondemand")}
        />
      </div>
    </search>
  );
}
