import { createHmac } from "node:crypto";

type Variables = readonly (readonly [string, string])[];

/**
 * What opens the notebook server of an instance: the renter's own `JUPYTER_TOKEN`, or one that follows from the
 * instance's key, so that it is the same each time and stored nowhere.
 */
export function jupyterTokenOf(env: Variables, instanceApiKey: string): string {
  const own = env.findLast(([name]) => name === "JUPYTER_TOKEN")?.[1];
  // An empty one would let everybody in.
  if (own !== undefined && own !== "") return own;
  return createHmac("sha256", instanceApiKey).update("jupyter").digest("base64url");
}
