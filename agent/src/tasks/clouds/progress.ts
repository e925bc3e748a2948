const LINE_LENGTH_MAX = 8_192;
const NOTES_MAX = 50;

export type CloudProgress = { readonly bytes: number; readonly totalBytes: number; readonly files: number };

/** Reads the lines of rclone's log in JSON: numbers of progress, and what it says besides. */
export class CloudLog {
  progress: CloudProgress = { bytes: 0, totalBytes: 0, files: 0 };
  readonly notes: string[] = [];
  #rest = "";
  readonly #onProgress: (progress: CloudProgress) => void;

  constructor(onProgress: (progress: CloudProgress) => void) {
    this.#onProgress = onProgress;
  }

  push(data: string): void {
    const lines = `${this.#rest}${data}`.split("\n");
    this.#rest = (lines.pop() ?? "").slice(0, LINE_LENGTH_MAX);
    for (const line of lines) this.#read(line);
  }

  /** The last lines that it said, for a person. */
  get text(): string {
    return [...this.notes, ...(this.#rest.trim() === "" ? [] : [this.#rest.trim()])].join("\n");
  }

  #read(line: string): void {
    const said = parse(line);
    if (said.stats !== undefined) {
      this.progress = said.stats;
      this.#onProgress(said.stats);
    } else if (said.text !== "") {
      this.notes.push(said.text);
      if (this.notes.length > NOTES_MAX) this.notes.shift();
    }
  }
}

function parse(line: string): { readonly text: string; readonly stats?: CloudProgress } {
  const plain = { text: line.trim().slice(0, LINE_LENGTH_MAX) };
  if (!line.startsWith("{")) return plain;
  let said: unknown;
  try {
    said = JSON.parse(line);
  } catch {
    // A line that is no JSON is shown as it is.
    return plain;
  }
  if (typeof said !== "object" || said === null) return plain;
  if ("stats" in said && typeof said.stats === "object" && said.stats !== null) {
    const { stats } = said;
    const count = (name: string) => {
      const value: unknown = Reflect.get(stats, name);
      return typeof value === "number" && value >= 0 ? Math.floor(value) : 0;
    };
    return { text: "", stats: { bytes: count("bytes"), totalBytes: count("totalBytes"), files: count("transfers") } };
  }
  const message = "msg" in said ? String(said.msg).trim() : "";
  const object = "object" in said ? `${String(said.object)}: ` : "";
  return { text: `${object}${message}` };
}
