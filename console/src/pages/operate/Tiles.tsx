import type { ReactNode } from "react";
import classes from "./operate.module.css";

export type Tile = {
  readonly label: string;
  readonly value: ReactNode;
  readonly note?: ReactNode;
  /** Amber for what waits for a decision, red for what is broken. */
  readonly tone?: "amber" | "red" | undefined;
};

/** Figures side by side, each with its name. */
export function Tiles({ tiles }: { readonly tiles: readonly Tile[] }) {
  return (
    <dl className={classes["tiles"]}>
      {tiles.map(({ label, value, note, tone }) => (
        <div key={label} className={classes["tile"]} data-tone={tone}>
          <dt>{label}</dt>
          <dd className={classes["figure"]}>{value}</dd>
          {note !== undefined && <dd className={classes["tileNote"]}>{note}</dd>}
        </div>
      ))}
    </dl>
  );
}

/** Names and values below each other. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className={classes["facts"]}>
      {facts.map(([name, value]) => (
        <div key={name} style={{ display: "contents" }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
