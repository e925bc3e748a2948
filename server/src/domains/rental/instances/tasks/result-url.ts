/** The address at which the output of a task appears; `origin` is this server's, as the caller reached it. */
export function resultUrl(origin: string, token: string): string {
  return `${origin}/api/v0/results/${token}/`;
}
