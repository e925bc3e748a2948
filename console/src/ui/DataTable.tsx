import { useMediaQuery } from "@mantine/hooks";
import { useMemo, useState } from "react";
import { CardList } from "./CardList.tsx";
import { RowTable } from "./RowTable.tsx";
import { sortRows, type TableProps } from "./table-types.ts";
import { useRowKeys } from "./use-row-keys.ts";
import { Waiting } from "./Waiting.tsx";

/** Rows with sortable headers and keys (j, k, x, Enter); cards on a phone. Long tables draw only the rows on the screen. */
export function DataTable<Row>(props: TableProps<Row>) {
  const { rows, columns, startSort, empty } = props;
  const [ownSort, setOwnSort] = useState(startSort);
  const sort = props.onSort === undefined ? ownSort : props.sort;
  const isNarrow = useMediaQuery("(max-width: 640px)", false, { getInitialValueInEffect: false });
  const sorted = useMemo(
    () => (rows === undefined || props.isSortedElsewhere === true ? rows : sortRows(rows, columns, sort)),
    [rows, columns, sort, props.isSortedElsewhere],
  );
  const { keyOf, chosen, onChoose, onOpen } = props;
  const toggle = (row: Row) => {
    if (chosen === undefined || onChoose === undefined) return;
    const next = new Set(chosen);
    if (!next.delete(keyOf(row))) next.add(keyOf(row));
    onChoose(next);
  };
  const cursor = useRowKeys({ rows: sorted ?? [], onOpen, onToggle: toggle });
  if (sorted === undefined) return <Waiting rows={8} what={`Loading: ${props.label}`} />;
  if (sorted.length === 0) return <>{empty}</>;
  const drawn = { ...props, rows: sorted, sort, onSort: props.onSort ?? setOwnSort, onToggle: toggle, cursor };
  return isNarrow ? <CardList {...drawn} /> : <RowTable {...drawn} />;
}
