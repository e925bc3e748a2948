// The documentation as plain data: what the build makes of docs/*.md, and what the pages of help show.

/** A run of text within a line. */
export type Piece =
  | string
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "strong" | "em" | "plain"; readonly pieces: readonly Piece[] }
  | { readonly kind: "page"; readonly page: string; readonly hash: string; readonly pieces: readonly Piece[] }
  | { readonly kind: "here"; readonly hash: string; readonly pieces: readonly Piece[] }
  | { readonly kind: "away"; readonly href: string; readonly pieces: readonly Piece[] };

/** A paragraph, or the text of a list's item. */
type PlainBlock = { readonly kind: "paragraph" | "text"; readonly pieces: readonly Piece[] };
export type Block =
  | PlainBlock
  | { readonly kind: "heading"; readonly level: number; readonly id: string; readonly pieces: readonly Piece[] }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "quote"; readonly blocks: readonly Block[] }
  | {
      readonly kind: "list";
      readonly isOrdered: boolean;
      readonly start: number;
      readonly items: readonly (readonly Block[])[];
    }
  | {
      readonly kind: "table";
      readonly head: readonly (readonly Piece[])[];
      readonly rows: readonly (readonly (readonly Piece[])[])[];
    };

export type HelpPage = { readonly name: string; readonly title: string; readonly blocks: readonly Block[] };
export type HelpEntry = {
  readonly name: string;
  readonly title: string;
  readonly headings: readonly { readonly id: string; readonly text: string }[];
  /** The first words of the page. */
  readonly first: string;
};
export type HelpGroup = { readonly name: string; readonly pages: readonly string[] };
