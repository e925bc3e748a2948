import { NumberInput } from "@mantine/core";
import type { Endpoint, EndpointSettings } from "../../../sdk/src/index.ts";
import classes from "./endpoint.module.css";

type ParameterName =
  | "min_load"
  | "target_util"
  | "cold_mult"
  | "min_cold_load"
  | "cold_workers"
  | "max_workers"
  | "max_queue_time"
  | "target_queue_time"
  | "inactivity_timeout";

type Parameter = {
  readonly name: ParameterName;
  readonly label: string;
  /** Says what a higher or lower value does. */
  readonly help: string;
  /** The value of an endpoint that was given none. */
  readonly start: number | "";
  readonly placeholder?: string;
  readonly min?: number;
  readonly max?: number;
  readonly step?: number;
};

/** The scaling parameters of an endpoint, in the order in which people think about them. */
const PARAMETERS: readonly Parameter[] = [
  {
    name: "max_workers",
    label: "Workers at most",
    help: "Counts workers in any state. It wins over everything below, so it bounds the cost.",
    start: 20,
    min: 1,
  },
  {
    name: "cold_workers",
    label: "Workers always kept",
    help: "Running or stopped. A stopped worker costs its disk and is ready much sooner than a new one.",
    start: 5,
    min: 0,
  },
  {
    name: "min_load",
    label: "Load to be ready for, units/s",
    help: "Capacity that runs even when nothing comes. 0 lets all workers stop.",
    start: 10,
    min: 0,
  },
  {
    name: "target_util",
    label: "Use of running workers, from 0 to 1",
    help: "Running capacity is the expected load divided by this. Lower leaves more room for peaks, and costs more.",
    start: 0.9,
    min: 0,
    max: 1,
    step: 0.05,
  },
  {
    name: "cold_mult",
    label: "Capacity with stopped workers, times the load",
    help: "Higher keeps more stopped workers for sudden growth.",
    start: 2.5,
    min: 0,
    step: 0.5,
  },
  {
    name: "min_cold_load",
    label: "Least capacity with stopped workers, units/s",
    help: "Kept at any load.",
    start: 0,
    min: 0,
  },
  {
    name: "max_queue_time",
    label: "Work that may wait at one worker, in s",
    help: "A worker with more work than this gets no further request. 30 s unless you set it.",
    start: "",
    placeholder: "30",
    min: 0,
  },
  {
    name: "target_queue_time",
    label: "Wait that calls for more workers, in s",
    help: "A longer wait calls for twice the workers that would otherwise come. 10 s unless you set it.",
    start: "",
    placeholder: "10",
    min: 0,
  },
  {
    name: "inactivity_timeout",
    label: "Quiet time before the last worker stops, in s",
    help: "0: at once. Below 0: never. 5 minutes unless you set it.",
    start: "",
    placeholder: "300",
  },
];

export const PARAMETER_NAMES: readonly ParameterName[] = PARAMETERS.map(({ name }) => name);

export function labelOf(name: ParameterName): string {
  return PARAMETERS.find((parameter) => parameter.name === name)?.label ?? name;
}

export type ParameterValues = Readonly<Record<ParameterName, number | "">>;

/** The values with which a new endpoint begins. */
export function startValues(): ParameterValues {
  return valuesBy(({ start }) => start);
}

/** The values of an endpoint that exists; a value that it was not given is empty. */
export function valuesOf(endpoint: Endpoint): ParameterValues {
  return valuesBy(({ name }) => endpoint[name] ?? "");
}

/** The parameters that differ from these others, as a request takes them. */
export function changedSettings(values: ParameterValues, others: ParameterValues): EndpointSettings {
  const changed = PARAMETERS.flatMap(({ name }) => {
    const value = values[name];
    return value === "" || value === others[name] ? [] : [[name, value] as const];
  });
  return Object.fromEntries(changed);
}

/** The options of `./berth endpoint` for these settings. */
export function optionsOf(settings: EndpointSettings): readonly string[] {
  const words = { endpoint_name: "name", endpoint_state: "state" } as const;
  return Object.entries(settings).flatMap(([name, value]) => {
    const option = name === "endpoint_name" || name === "endpoint_state" ? words[name] : name.replaceAll("_", "-");
    return [`--${option}`, String(value)];
  });
}

type Props = { readonly values: ParameterValues; readonly onChange: (values: ParameterValues) => void };

/** A field for each parameter, with its unit and what it does. */
export function ParameterFields({ values, onChange }: Props) {
  return (
    <div className={classes["parameters"]}>
      {PARAMETERS.map(({ name, label, help, placeholder, min, max, step }) => (
        <NumberInput
          key={name}
          label={label}
          description={help}
          value={values[name]}
          onChange={(value) => onChange({ ...values, [name]: value === "" ? "" : Number(value) })}
          {...(placeholder === undefined ? {} : { placeholder })}
          {...(min === undefined ? {} : { min })}
          {...(max === undefined ? {} : { max })}
          step={step ?? 1}
        />
      ))}
    </div>
  );
}

function valuesBy(of: (parameter: Parameter) => number | ""): ParameterValues {
  const empty: ParameterValues = {
    ...{ min_load: "", target_util: "", cold_mult: "", min_cold_load: "", cold_workers: "" },
    ...{ max_workers: "", max_queue_time: "", target_queue_time: "", inactivity_timeout: "" },
  };
  return { ...empty, ...Object.fromEntries(PARAMETERS.map((parameter) => [parameter.name, of(parameter)])) };
}
