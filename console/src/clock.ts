// Time of the browser. The only file of the console that reads a clock or sets a timer.

export const now = (): Date => new Date();
export const nowMs = (): number => Date.now();
export const nowSeconds = (): number => Date.now() / 1000;

/** Calls `work` after `ms`, unless the returned function is called before. */
export function later(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
}

/** Calls `work` every `ms` until the returned function is called. */
export function every(ms: number, work: () => void): () => void {
  const timer = setInterval(work, ms);
  return () => clearInterval(timer);
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => later(ms, resolve));
}
