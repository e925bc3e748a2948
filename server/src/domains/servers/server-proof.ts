import { createHmac, timingSafeEqual } from "node:crypto";

/** Allowance for the difference of two servers' clocks and for the time that a proof is on its way. */
const WINDOW_MS = 60_000;
const PROOF = /^Berth-Server (\d{1,15})\.(\d{1,10})\.([A-Za-z0-9_-]{43})$/;

/** A request from one server to another, and the agent that it is for. */
export type ServerRequest = {
  /** The requested path; the proof is valid for no other. */
  readonly path: string;
  /** The id of the agent credential that the first server has checked; 0 for a request of the server's own. */
  readonly subject: number;
};

/** The `Authorization` header by which a server proves that it has the secret of this database. */
export function proveServer(secret: Buffer, request: ServerRequest, now: Date): string {
  const atMs = now.getTime();
  return `Berth-Server ${atMs}.${request.subject}.${signatureOf(secret, request, atMs)}`;
}

/** The subject of a request by a server of this database; undefined for every other request. */
export function readServerProof(
  secret: Buffer,
  { path, header }: { readonly path: string; readonly header: string | undefined },
  now: Date,
): number | undefined {
  const [, at = "", subject = "", shown = ""] = PROOF.exec(header ?? "") ?? [];
  if (shown === "" || Math.abs(now.getTime() - Number(at)) > WINDOW_MS) return undefined;
  const expected = signatureOf(secret, { path, subject: Number(subject) }, Number(at));
  return timingSafeEqual(Buffer.from(expected), Buffer.from(shown)) ? Number(subject) : undefined;
}

function signatureOf(secret: Buffer, { path, subject }: ServerRequest, atMs: number): string {
  return createHmac("sha256", secret)
    .update(`berth: a server asks another one\n${atMs}\n${subject}\n${path}`)
    .digest("base64url");
}
