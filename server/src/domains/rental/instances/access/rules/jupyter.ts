import { createHmac } from "node:crypto";

type Variables = readonly (readonly [string, string])[];

/**
 * The token of an instance's notebook server: the renter's own `JUPYTER_TOKEN`, or one derived from the instance's key,
 * which is the same each time and stored nowhere.
 */
export function jupyterTokenOf(env: Variables, instanceApiKey: string): string {
  const own = env.findLast(([name]) => name === "JUPYTER_TOKEN")?.[1];
  // An empty token would let everybody in.
  if (own !== undefined && own !== "") return own;
  return createHmac("sha256", instanceApiKey).update("jupyter").digest("base64url");
}
