import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { billingShowAnyDocument, type AccountDocument } from "../../../../sdk/src/index.ts";
import { ask } from "../../api/query.ts";
import { Answer } from "../../parts/Answer.tsx";
import { HostileText } from "../../ui/HostileText.tsx";
import { Panel } from "../../ui/Panel.tsx";
import classes from "./money.module.css";

type Props = { readonly number: string | undefined; readonly onClose: () => void };

/** A document beside the list, as it was issued, with its lines. */
export function DocumentPanel({ number, onClose }: Props) {
  return (
    <Panel title={number ?? "Document"} isOpen={number !== undefined} onClose={onClose} width={760}>
      {number !== undefined && <Shown number={number} />}
    </Panel>
  );
}

function Shown({ number }: { readonly number: string }) {
  const document = useQuery(ask("balance.document", billingShowAnyDocument, { number }));
  const path = `/api/v0/billing/documents/${encodeURIComponent(number)}`;
  return (
    <Answer query={document}>
      {(answer) => (
        <>
          <div className={classes["end"]}>
            <Button component="a" variant="default" href={`${path}/page/`} target="_blank" rel="noreferrer">
              Page to print
            </Button>
            <Button component="a" variant="default" href={`${path}/pdf/`} target="_blank" rel="noreferrer">
              PDF
            </Button>
          </div>
          <Sheet sheet={answer.shown} />
        </>
      )}
    </Answer>
  );
}

function Sheet({ sheet: { title, subtitle, facts, tables, notes } }: { readonly sheet: AccountDocument["shown"] }) {
  return (
    <>
      <h2>
        <HostileText text={title} />
      </h2>
      <p className={classes["note"]}>
        <HostileText text={subtitle} />
      </p>
      <table className={classes["sheet"]}>
        <caption className="visually-hidden">Facts</caption>
        <tbody>
          {facts.map(({ name, value }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <HostileText text={value} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {tables.map((table) => (
        <SheetTable key={table.caption} table={table} />
      ))}
      {notes.map((note) => (
        <p key={note} className={classes["note"]}>
          <HostileText text={note} />
        </p>
      ))}
    </>
  );
}

type SheetTableProps = { readonly table: AccountDocument["shown"]["tables"][number] };

function SheetTable({ table: { caption, columns, rows, totals } }: SheetTableProps) {
  return (
    <div className={classes["scroll"]} tabIndex={0} role="group" aria-label={caption}>
      <table className={classes["sheet"]}>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ cells, note }, row) => (
            // Rows of a document have no names and never change.
            <tr key={row}>
              {cells.map((cell, at) => (
                <td key={at}>
                  <HostileText text={cell} />
                  {at === 0 && note !== "" && (
                    <small className="dim">
                      {" "}
                      <HostileText text={note} />
                    </small>
                  )}
                </td>
              ))}
            </tr>
          ))}
          {totals.map(({ label, amount }) => (
            <tr key={label}>
              <th scope="row" colSpan={Math.max(1, columns.length - 1)}>
                {label}
              </th>
              <td>{amount}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
