import { NativeSelect, NumberInput, Textarea, TextInput } from "@mantine/core";
import type { RentChoice } from "./rent-choice.ts";
import classes from "./rent.module.css";

const CONNECTIONS = [
  { value: "ssh_direct", label: "SSH" },
  { value: "jupyter_direct", label: "Jupyter and SSH" },
  { value: "args", label: "The image's own program" },
];

type Props = { readonly choice: RentChoice; readonly set: (changed: Partial<RentChoice>) => void };

/** Fields that few rentals need. */
export function RentMore({ choice, set }: Props) {
  return (
    <div className={classes["fields"]}>
      {choice.templateHash === "" && (
        <NativeSelect
          label="Connection"
          value={choice.connection}
          data={CONNECTIONS}
          onChange={(event) => set({ connection: event.currentTarget.value })}
        />
      )}
      <TextInput
        label="Environment and ports"
        description="Options as docker takes them"
        placeholder="-e MODE=train -p 8080:8080"
        value={choice.env}
        onChange={(event) => set({ env: event.currentTarget.value })}
        spellCheck={false}
      />
      <Textarea
        label="Start script"
        description="Runs in the instance at each start"
        minRows={3}
        autosize
        value={choice.onstart}
        onChange={(event) => set({ onstart: event.currentTarget.value })}
        spellCheck={false}
      />
      <NumberInput
        label="Traffic, at most, in dollars"
        description="The instance stops when its traffic has cost this much. Empty takes the budget of the service."
        min={0}
        value={choice.trafficDollars ?? ""}
        onChange={(value) => set({ trafficDollars: value === "" ? undefined : Number(value) })}
      />
    </div>
  );
}
