import { Checkbox } from "@mantine/core";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type MouseEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { HeaderCell } from "./HeaderCell.tsx";
import { type DrawnProps, nameColumn } from "./table-types.ts";
import classes from "./table.module.css";

const ROW_HEIGHT = 36;
/** Shorter tables are drawn whole. */
const VIRTUAL_FROM = 60;

export function RowTable<Row>(props: DrawnProps<Row>) {
  const { label, rows, columns, sort, onSort, chosen, onChoose, chooseMax, keyOf, cursor } = props;
  const place = useRef<HTMLDivElement>(null);
  const { items, before, after } = useWindow(place, rows.length);
  useEffect(() => {
    if (cursor.index === undefined) return;
    place.current?.querySelector("tr[data-cursor]")?.scrollIntoView({ block: "nearest" });
  }, [cursor.index]);
  const isEachChosen = chosen !== undefined && rows.every((row) => chosen.has(keyOf(row)));
  const chooseAll = () => onChoose?.(new Set(isEachChosen ? [] : rows.map(keyOf)));
  return (
    <div ref={place} className={classes["scroll"]} tabIndex={-1}>
      <table className={classes["table"]} aria-label={label} aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {chosen !== undefined && (
              <th className={classes["choice"]}>
                {chooseMax === undefined ? (
                  <Checkbox
                    size="xs"
                    aria-label="Choose all"
                    checked={isEachChosen}
                    indeterminate={!isEachChosen && chosen.size > 0}
                    onChange={chooseAll}
                  />
                ) : (
                  <span className="visually-hidden">Choose</span>
                )}
              </th>
            )}
            {columns.map((column) => (
              <HeaderCell key={column.key} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer height={before} />
          {items.map((index) => {
            const row = rows[index];
            return row === undefined ? null : <BodyRow key={keyOf(row)} {...props} row={row} index={index} />;
          })}
          <Spacer height={after} />
        </tbody>
      </table>
    </div>
  );
}

function BodyRow<Row>(props: DrawnProps<Row> & { readonly row: Row; readonly index: number }) {
  const { row, index, columns, keyOf, chosen, chooseMax, changed, onOpen, onToggle, cursor, openKey } = props;
  const key = keyOf(row);
  const nameKey = nameColumn(columns)?.key;
  const click = (event: MouseEvent) => {
    const isOwn = event.target instanceof Element && event.target.closest("a, button, input, label, time") !== null;
    if (isOwn || (globalThis.getSelection()?.toString() ?? "") !== "") return;
    cursor.set(index);
    onOpen?.(row);
  };
  return (
    <tr
      aria-rowindex={index + 2}
      data-cursor={cursor.index === index || undefined}
      data-changed={changed?.has(String(key)) || undefined}
      data-chosen={chosen?.has(key) || openKey === key || undefined}
      data-opens={onOpen !== undefined || undefined}
      onClick={click}
    >
      {chosen !== undefined && (
        <td className={classes["choice"]}>
          <input
            type="checkbox"
            className={classes["box"]}
            aria-label={`Choose ${key}`}
            checked={chosen.has(key)}
            disabled={chooseMax !== undefined && chosen.size >= chooseMax && !chosen.has(key)}
            onChange={() => onToggle(row)}
          />
        </td>
      )}
      {columns.map((column) => {
        const Cell = column.key === nameKey ? "th" : "td";
        return (
          <Cell
            key={column.key}
            data-figure={column.isFigure || undefined}
            {...(Cell === "th" ? { scope: "row" } : {})}
          >
            {column.cell(row)}
          </Cell>
        );
      })}
    </tr>
  );
}

function Spacer({ height }: { readonly height: number }) {
  return height === 0 ? null : <tr aria-hidden="true" style={{ height }} />;
}

/** Indices of the rows on the screen with some around, and the height of the others. */
function useWindow(place: { readonly current: HTMLElement | null }, count: number) {
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    const top = place.current?.getBoundingClientRect().top;
    if (top !== undefined) setOffset(top + globalThis.scrollY);
  }, [place, count]);
  const virtual = useWindowVirtualizer({
    count,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
    scrollMargin: offset,
    enabled: count >= VIRTUAL_FROM,
  });
  if (count < VIRTUAL_FROM) return { items: Array.from({ length: count }, (_, index) => index), before: 0, after: 0 };
  const items = virtual.getVirtualItems();
  const first = items[0];
  const last = items.at(-1);
  return {
    items: items.map(({ index }) => index),
    before: first === undefined ? 0 : first.start - offset,
    after: last === undefined ? 0 : virtual.getTotalSize() - (last.end - offset),
  };
}
