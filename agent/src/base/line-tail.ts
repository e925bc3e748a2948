const NEWLINE = 10;

/**
 * Keeps the newest lines of a text that may be endless: at most so many, at most so many bytes, and only those that
 * contain the filter. Several streams that write into it by turns do not tear each other's lines.
 */
export class LineTail {
  readonly #limits: { readonly tailLines: number; readonly limitBytes: number; readonly filter: string };
  readonly #open = new Map<string, Buffer[]>();
  #lines: string[] = [];
  /** Index of the first kept line in `#lines`: a dropped line does not move all later ones. */
  #first = 0;
  #bytes = 0;

  constructor(limits: { readonly tailLines: number; readonly limitBytes: number; readonly filter: string }) {
    this.#limits = limits;
  }

  push(stream: string, data: Buffer): void {
    let from = 0;
    for (let end = data.indexOf(NEWLINE); end !== -1; end = data.indexOf(NEWLINE, from)) {
      this.#extend(stream, data.subarray(from, end));
      this.#close(stream);
      from = end + 1;
    }
    if (from < data.length) this.#extend(stream, data.subarray(from));
  }

  /** The kept lines, each with a line end; text after the last line end counts as a line too. */
  text(): string {
    for (const stream of [...this.#open.keys()]) this.#close(stream);
    return this.#lines.slice(this.#first).join("");
  }

  #extend(stream: string, data: Buffer): void {
    const parts = this.#open.get(stream) ?? [];
    // A copy, since the piece shares memory with the whole chunk that it came in.
    parts.push(Buffer.from(data));
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    // The last bytes of a line beyond the limit are kept, like the last lines of the whole text.
    if (bytes > 2 * this.#limits.limitBytes) {
      parts.splice(0, parts.length, Buffer.concat(parts).subarray(-this.#limits.limitBytes));
    }
    this.#open.set(stream, parts);
  }

  #close(stream: string): void {
    const room = Math.max(0, this.#limits.limitBytes - 1);
    const whole = Buffer.concat(this.#open.get(stream) ?? []);
    this.#open.delete(stream);
    const line = `${whole.subarray(Math.max(0, whole.length - room)).toString("utf8")}\n`;
    if (!line.includes(this.#limits.filter)) return;
    this.#lines.push(line);
    this.#bytes += Buffer.byteLength(line);
    while (this.#lines.length - this.#first > this.#limits.tailLines || this.#bytes > this.#limits.limitBytes) {
      this.#drop();
    }
  }

  #drop(): void {
    const line = this.#lines[this.#first] ?? "";
    this.#bytes -= Buffer.byteLength(line);
    this.#lines[this.#first] = "";
    this.#first += 1;
    if (this.#first < this.#lines.length / 2) return;
    this.#lines = this.#lines.slice(this.#first);
    this.#first = 0;
  }
}
