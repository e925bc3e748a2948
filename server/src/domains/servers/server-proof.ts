import { createHmac, timingSafeEqual } from "node:crypto";

/** How far the clocks of two servers may differ, and how long a proof may be on its way. */
const WINDOW_MS = 60_000;
const PROOF = /^Berth-Server (\d{1,15})\.(\d{1,10})\.([A-Za-z0-9_-]{43})$/;

/** What one server asks another one, and on whose behalf. */
export type ServerRequest = {
  /** The path that it asks for; good for nothing else. */
  readonly path: string;
  /** The id of the agent credential that the first server has checked; 0 where the request is its own. */
  readonly subject: number;
};

/** The `Authorization` header by which a server shows that it has the secret of this database. */
export function proveServer(secret: Buffer, request: ServerRequest, now: Date): string {
  const atMs = now.getTime();
  return `Berth-Server ${atMs}.${request.subject}.${sealOf(secret, request, atMs)}`;
}

/** The subject of a request that comes from a server of this database; undefined for everybody else. */
export function readServerProof(
  secret: Buffer,
  { path, header }: { readonly path: string; readonly header: string | undefined },
  now: Date,
): number | undefined {
  const [, at = "", subject = "", shown = ""] = PROOF.exec(header ?? "") ?? [];
  if (shown === "" || Math.abs(now.getTime() - Number(at)) > WINDOW_MS) return undefined;
  const expected = sealOf(secret, { path, subject: Number(subject) }, Number(at));
  return timingSafeEqual(Buffer.from(expected), Buffer.from(shown)) ? Number(subject) : undefined;
}

function sealOf(secret: Buffer, { path, subject }: ServerRequest, atMs: number): string {
  return createHmac("sha256", secret)
    .update(`berth: a server asks another one\n${atMs}\n${subject}\n${path}`)
    .digest("base64url");
}
