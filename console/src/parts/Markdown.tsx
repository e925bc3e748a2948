// Markdown of other people as elements. Their HTML stays text, and a picture is a link: nothing is loaded from elsewhere.
import { lexer, type MarkedToken, type Token, type Tokens } from "marked";
import { createElement, type ReactNode } from "react";
import { HostileText } from "../ui/HostileText.tsx";
import classes from "./markdown.module.css";

/** Tokens that lie deeper are shown as they were written. */
const DEPTH_MAX = 16;
/** The largest headings of a text; smaller ones look smaller and have the same level, so that none is left out. */
const HEADING = "h2";

/** A text in Markdown; `label` names it for readers of the screen. */
export function Markdown({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div className={classes["text"]} role="region" aria-label={label} dir="auto">
      {each(lexer(text), 0)}
    </div>
  );
}

function each(tokens: readonly Token[], depth: number): ReactNode {
  if (depth > DEPTH_MAX) return <HostileText text={tokens.map(({ raw }) => raw).join("")} />;
  // A token has no name; all are made again with the text.
  return tokens.map((token, index) => <Piece key={index} token={token} depth={depth + 1} />);
}

type PieceProps = { readonly token: Token; readonly depth: number };

function Piece({ token, depth }: PieceProps): ReactNode {
  if (!isKnown(token)) return <HostileText text={token.raw} />;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "hr":
      return <hr />;
    case "br":
      return <br />;
    case "checkbox":
      return token.checked ? "☑ " : "☐ ";
    case "code":
      return (
        <pre tabIndex={0}>
          <code>
            <HostileText text={token.text} />
          </code>
        </pre>
      );
    case "codespan":
      return (
        <code>
          <HostileText text={token.text} />
        </code>
      );
    case "list":
      return createElement(
        token.ordered ? "ol" : "ul",
        token.ordered && token.start !== "" ? { start: token.start } : null,
        token.items.map((item, index) => <li key={index}>{each(item.tokens, depth)}</li>),
      );
    case "table":
      return <Table token={token} depth={depth} />;
    case "link":
    case "image":
      return <Reference token={token} depth={depth} />;
    case "html":
      return <HostileText text={token.raw} />;
    case "escape":
      return <HostileText text={token.text} />;
    case "text":
      return token.tokens === undefined ? <HostileText text={token.text} /> : each(token.tokens, depth);
    case "heading":
      return createElement(
        HEADING,
        { className: classes[`level${Math.min(3, token.depth)}`] },
        each(token.tokens, depth),
      );
    case "blockquote":
      return <blockquote>{each(token.tokens, depth)}</blockquote>;
    case "paragraph":
      return <p>{each(token.tokens, depth)}</p>;
    case "list_item":
      return each(token.tokens, depth);
    case "strong":
    case "em":
    case "del":
      return createElement(token.type, null, each(token.tokens, depth));
  }
}

function Table({ token, depth }: { readonly token: Tokens.Table; readonly depth: number }) {
  return (
    <div className={classes["scroll"]} tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {token.header.map((cell, index) => (
              <th key={index} scope="col">
                {each(cell.tokens, depth)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column}>{each(cell.tokens, depth)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A link that says where it leads; an address of another kind than http is text. */
function Reference({ token, depth }: { readonly token: Tokens.Link | Tokens.Image; readonly depth: number }) {
  if (!/^https?:\/\//i.test(token.href)) return <HostileText text={token.raw} />;
  return (
    <a href={token.href} target="_blank" rel="noopener noreferrer nofollow" title={token.href}>
      {token.type === "image" ? (
        <>
          Picture: <HostileText text={token.text === "" ? token.href : token.text} />
        </>
      ) : (
        each(token.tokens, depth)
      )}
    </a>
  );
}

const KNOWN: ReadonlySet<string> = new Set<MarkedToken["type"]>([
  ...(["blockquote", "br", "checkbox", "code", "codespan", "def", "del", "em", "escape", "heading", "hr"] as const),
  ...(["html", "image", "link", "list", "list_item", "paragraph", "space", "strong", "table", "text"] as const),
]);

function isKnown(token: Token): token is MarkedToken {
  return KNOWN.has(token.type);
}
