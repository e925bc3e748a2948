export type FrameStream = "stdout" | "stderr";

const HEADER_BYTES = 8;
const STDERR = 2;

/**
 * Takes apart the two output streams that the engine sends over one connection: each frame has a header of one byte for
 * the stream, three of nothing and four for its length. A frame is passed on in the pieces in which it comes, so that
 * its length never decides about memory.
 */
export class FrameReader {
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #stream: FrameStream = "stdout";
  #leftBytes = 0;

  /** The pieces in order. They share the memory of `chunk`. */
  *read(chunk: Buffer): Generator<{ readonly stream: FrameStream; readonly data: Buffer }> {
    let at = 0;
    while (at < chunk.length) {
      if (this.#leftBytes === 0) {
        const taken = chunk.copy(this.#header, this.#headerBytes, at, at + HEADER_BYTES - this.#headerBytes);
        at += taken;
        this.#headerBytes += taken;
        if (this.#headerBytes < HEADER_BYTES) return;
        this.#headerBytes = 0;
        this.#stream = this.#header[0] === STDERR ? "stderr" : "stdout";
        this.#leftBytes = this.#header.readUInt32BE(4);
        continue;
      }
      const data = chunk.subarray(at, at + this.#leftBytes);
      at += data.length;
      this.#leftBytes -= data.length;
      yield { stream: this.#stream, data };
    }
  }
}
