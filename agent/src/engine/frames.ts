/** A piece of the output of a program without a terminal. */
export type Frame = { readonly isStderr: boolean; readonly data: Buffer };

const HEADER_BYTES = 8;
const LENGTH_AT = 4;
const STDERR = 2;

/**
 * Takes apart the engine's way of putting two streams into one: a header of 8 bytes with the stream's number and the
 * length before each piece. Pieces of a frame are handed on as they come, without copies.
 */
export function createFrameReader(): (chunk: Buffer) => Generator<Frame> {
  const header = Buffer.alloc(HEADER_BYTES);
  let headerBytes = 0;
  let left = 0;
  let isStderr = false;
  return function* read(chunk) {
    let at = 0;
    while (at < chunk.length) {
      if (left === 0) {
        const copied = chunk.copy(header, headerBytes, at, at + HEADER_BYTES - headerBytes);
        at += copied;
        headerBytes += copied;
        if (headerBytes < HEADER_BYTES) return;
        headerBytes = 0;
        left = header.readUInt32BE(LENGTH_AT);
        isStderr = header[0] === STDERR;
        continue;
      }
      const data = chunk.subarray(at, at + left);
      at += data.length;
      left -= data.length;
      yield { isStderr, data };
    }
  };
}
