/** Cuts a stream of JSON documents, one per line, and gives each to `onValue`. Other lines are left out. */
export class JsonLines {
  readonly #onValue: (value: unknown) => void;
  #rest = "";

  constructor(onValue: (value: unknown) => void) {
    this.#onValue = onValue;
  }

  push(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#emit(line);
  }

  /** Ends the stream; its last line may come without a line end. */
  end(): void {
    this.#emit(this.#rest);
    this.#rest = "";
  }

  #emit(line: string): void {
    if (line.trim() === "") return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      // Half a line of a broken connection, which the end of the stream reports.
      return;
    }
    this.#onValue(value);
  }
}
