/** Takes a line for people; it never holds a token or a payload. */
export type Log = (line: string) => void;
