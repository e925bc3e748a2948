import { UnstyledButton } from "@mantine/core";
import { Icon } from "./Icon.tsx";
import type { Column, Sort } from "./table-types.ts";
import classes from "./table.module.css";

type Props<Row> = {
  readonly column: Column<Row>;
  readonly sort: Sort | undefined;
  readonly onSort: (sort: Sort) => void;
};

/** A header; that of a sortable column is a button. Figures sort from the largest first, words from A. */
export function HeaderCell<Row>({ column, sort, onSort }: Props<Row>) {
  const { key, title, isFigure, sortBy, width } = column;
  const isSorted = sort?.key === key;
  const direction = isSorted ? (sort.isDescending ? "descending" : "ascending") : undefined;
  const next = { key, isDescending: isSorted ? !sort.isDescending : isFigure === true };
  return (
    <th
      scope="col"
      data-figure={isFigure || undefined}
      aria-sort={direction}
      style={width === undefined ? undefined : { width }}
    >
      {sortBy === undefined ? (
        title
      ) : (
        <UnstyledButton className={classes["sort"]} onClick={() => onSort(next)}>
          {title}
          {isSorted && <Icon name={sort.isDescending ? "arrowDown" : "arrowUp"} size={12} />}
        </UnstyledButton>
      )}
    </th>
  );
}
