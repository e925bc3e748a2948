import type { Node } from "./schemas.ts";

/**
 * Operations that are described here and not beside their routes: what goes in or out is a file, a page, a certificate or a
 * stream, or their errors have a form of their own. The SDK has no functions for them.
 */
export type PlainOperation = {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly object[];
  readonly request?: readonly [type: string, schema: Node, example: unknown];
  readonly answer: readonly [type: string, schema: Node, example: unknown];
};
