import type { ConnectionOptions } from "../../../connect.ts";

export type ListOptions = ConnectionOptions & {
  readonly json?: boolean;
  readonly limit?: number;
  /** The `next_token` of an earlier answer. */
  readonly after?: string;
};

/** The sentence below a page that is not the last one. */
export function moreText(nextToken: string | null): string {
  return nextToken === null ? "" : `\nThere are more: repeat the command with --after ${nextToken}`;
}
