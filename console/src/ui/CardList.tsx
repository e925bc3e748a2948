import { Checkbox, UnstyledButton } from "@mantine/core";
import { type DrawnProps, nameColumn } from "./table-types.ts";
import classes from "./table.module.css";

const FIELDS_MAX = 3;

/** The rows of a table on a phone: the name of each, and the three fields that matter. */
export function CardList<Row>(props: DrawnProps<Row>) {
  const { label, rows, columns, keyOf, onOpen, chosen, onToggle, changed, cursor } = props;
  const name = nameColumn(columns);
  const marked = columns.filter(({ isOnCard }) => isOnCard === true);
  const fields = (marked.length > 0 ? marked : columns).filter((column) => column !== name).slice(0, FIELDS_MAX);
  return (
    <ul className={classes["cards"]} aria-label={label}>
      {rows.map((row, index) => {
        const key = keyOf(row);
        return (
          <li
            key={key}
            data-changed={changed?.has(String(key)) || undefined}
            data-cursor={cursor.index === index || undefined}
          >
            <div className={classes["cardHead"]}>
              {chosen !== undefined && (
                <Checkbox
                  size="xs"
                  aria-label={`Choose ${key}`}
                  checked={chosen.has(key)}
                  onChange={() => onToggle(row)}
                />
              )}
              <div className={classes["cardName"]}>{name?.cell(row)}</div>
              {onOpen !== undefined && (
                <UnstyledButton className={classes["cardOpen"]} onClick={() => onOpen(row)} aria-label={`Open ${key}`}>
                  Open
                </UnstyledButton>
              )}
            </div>
            <dl>
              {fields.map((column) => (
                <div key={column.key}>
                  <dt>{column.title}</dt>
                  <dd>{column.cell(row)}</dd>
                </div>
              ))}
            </dl>
          </li>
        );
      })}
    </ul>
  );
}
