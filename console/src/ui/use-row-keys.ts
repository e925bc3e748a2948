import { useEffect, useState } from "react";

type Means<Row> = {
  readonly rows: readonly Row[];
  readonly onOpen: ((row: Row) => void) | undefined;
  readonly onToggle: (row: Row) => void;
};

export type Cursor = { readonly index: number | undefined; readonly set: (index: number) => void };

const OWN_KEYS = "input, textarea, select, button, a, [contenteditable], [role=dialog], .xterm";

/** The row that the keys j and k move to, x chooses and Enter opens. */
export function useRowKeys<Row>({ rows, onOpen, onToggle }: Means<Row>): Cursor {
  const [index, setIndex] = useState<number>();
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, target, ctrlKey, metaKey, altKey } = event;
      if (ctrlKey || metaKey || altKey || event.defaultPrevented) return;
      const isElsewhere = target instanceof Element && target.closest(OWN_KEYS) !== null;
      if (isElsewhere && !(target.closest("tbody") !== null && (key === "j" || key === "k" || key === "x"))) return;
      const step = key === "j" ? 1 : key === "k" ? -1 : 0;
      const row = index === undefined ? undefined : rows[index];
      if (step !== 0) setIndex((last) => Math.max(0, Math.min(rows.length - 1, last === undefined ? 0 : last + step)));
      else if (key === "x" && row !== undefined) onToggle(row);
      else if (key === "Enter" && row !== undefined) onOpen?.(row);
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [rows, index, onOpen, onToggle]);
  return { index, set: setIndex };
}
