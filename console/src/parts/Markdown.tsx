// Markdown of other people as elements: their HTML stays text, pictures are links, and links leave the page with no trace.
import { lexer, type Token, type Tokens } from "marked";
import type { ReactNode } from "react";
import { HostileText } from "../ui/HostileText.tsx";
import classes from "./markdown.module.css";

/** Deeper lists and quotes are shown as they were written. */
const DEPTH_MAX = 12;

export function Markdown({ text }: { readonly text: string }) {
  return (
    <div className={classes["text"]}>
      <Blocks tokens={lexer(text)} depth={0} />
    </div>
  );
}

type TokensProps = { readonly tokens: readonly Token[] | undefined; readonly depth: number };

function Blocks({ tokens = [], depth }: TokensProps) {
  if (depth > DEPTH_MAX) return <HostileText text={tokens.map(({ raw }) => raw).join("")} />;
  return tokens.map((token, index) => <Block key={index} token={token as Tokens.Generic} depth={depth + 1} />);
}
