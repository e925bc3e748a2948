import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode } from "react";
import { CopyButton } from "../../ui/CopyButton.tsx";
import type { Block, Piece } from "./nodes.ts";
import classes from "./help.module.css";

/** The text of a page. Its data come with the build, so that an index is a name that lasts. */
export function Blocks({ blocks }: { readonly blocks: readonly Block[] }) {
  return blocks.map((block, index) => <OneBlock key={index} block={block} />);
}

function OneBlock({ block }: { readonly block: Block }): ReactNode {
  switch (block.kind) {
    case "heading":
      return <Heading block={block} />;
    case "code":
      return <Code text={block.text} />;
    case "quote":
      return (
        <blockquote className={classes["quote"]}>
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case "list":
      return <List block={block} />;
    case "table":
      return <Table block={block} />;
    case "text":
      return <Pieces pieces={block.pieces} />;
    case "paragraph":
      return (
        <p>
          <Pieces pieces={block.pieces} />
        </p>
      );
  }
}

function Heading({ block: { level, id, pieces } }: { readonly block: Extract<Block, { kind: "heading" }> }) {
  const words = <Pieces pieces={pieces} />;
  return level <= 2 ? <h2 id={id}>{words}</h2> : <h3 id={id}>{words}</h3>;
}

/** Code with a button that copies it. */
export function Code({ text, what = "the code" }: { readonly text: string; readonly what?: string }) {
  return (
    <div className={classes["code"]}>
      <pre tabIndex={0}>{text}</pre>
      <span className={classes["copy"]}>
        <CopyButton text={text} what={what} />
      </span>
    </div>
  );
}

/** Text of the API's description, whose `names` stand in backticks. */
export function Words({ text }: { readonly text: string }): ReactNode {
  return text
    .split("`")
    .map((part, index) =>
      index % 2 === 0 ? <Fragment key={index}>{part}</Fragment> : <code key={index}>{part}</code>,
    );
}

function List({ block: { isOrdered, start, items } }: { readonly block: Extract<Block, { kind: "list" }> }) {
  const lines = items.map((item, index) => (
    <li key={index}>
      <Blocks blocks={item} />
    </li>
  ));
  return isOrdered ? <ol start={start}>{lines}</ol> : <ul>{lines}</ul>;
}

function Table({ block: { head, rows } }: { readonly block: Extract<Block, { kind: "table" }> }) {
  return (
    <div className={classes["table"]} role="group" aria-label="Table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index} scope="col">
                <Pieces pieces={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column}>
                  <Pieces pieces={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Pieces({ pieces }: { readonly pieces: readonly Piece[] }): ReactNode {
  return pieces.map((piece, index) => (
    <Fragment key={index}>{typeof piece === "string" ? piece : shown(piece)}</Fragment>
  ));
}

function shown(piece: Exclude<Piece, string>): ReactNode {
  if (piece.kind === "code") return <code>{piece.text}</code>;
  const words = <Pieces pieces={piece.pieces} />;
  if (piece.kind === "strong") return <strong>{words}</strong>;
  if (piece.kind === "em") return <em>{words}</em>;
  if (piece.kind === "page") {
    return (
      <Link to="/help/$page" params={{ page: piece.page }} hash={piece.hash}>
        {words}
      </Link>
    );
  }
  if (piece.kind === "here") return <a href={`#${piece.hash}`}>{words}</a>;
  if (piece.kind === "away") {
    return (
      <a href={piece.href} target="_blank" rel="noreferrer">
        {words}
      </a>
    );
  }
  return words;
}
