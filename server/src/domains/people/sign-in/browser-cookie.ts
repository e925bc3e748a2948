import type { FastifyReply, FastifyRequest } from "fastify";

const VALUE_LENGTH_MAX = 200;
const VALUE = /^[\w-]+$/;

/** A short-lived cookie that ties the steps of a sign-in to one browser. No script can read it. */
export type BrowserCookie = {
  readonly name: string;
  readonly path: string;
  readonly seconds: number;
  /** `Lax` where the browser comes back from another site with it. */
  readonly sameSite: "Strict" | "Lax";
};

/** The value of a cookie; undefined without it, and where several have its name: nobody could tell which one is ours. */
export function readBrowserCookie(
  { headers }: Pick<FastifyRequest, "headers">,
  { name }: Pick<BrowserCookie, "name">,
): string | undefined {
  const values = (headers.cookie ?? "").split(";").flatMap((pair) => {
    const [key = "", ...rest] = pair.split("=");
    return key.trim() === name ? [rest.join("=").trim()] : [];
  });
  const [value = "", ...others] = values;
  return others.length === 0 && value.length <= VALUE_LENGTH_MAX && VALUE.test(value) ? value : undefined;
}

/** Gives the browser a cookie beside those that the answer sets already. */
export function setBrowserCookie(
  reply: FastifyReply,
  { protocol }: Pick<FastifyRequest, "protocol">,
  { name, path, seconds, sameSite }: BrowserCookie,
  value: string,
): void {
  const parts = [`${name}=${value}`, "HttpOnly", `Path=${path}`, `SameSite=${sameSite}`, `Max-Age=${seconds}`];
  if (protocol === "https") parts.push("Secure");
  void reply.header("set-cookie", parts.join("; "));
}

/** Takes a cookie from the browser. */
export function clearBrowserCookie(
  reply: FastifyReply,
  request: Pick<FastifyRequest, "protocol">,
  cookie: BrowserCookie,
): void {
  setBrowserCookie(reply, request, { ...cookie, seconds: 0 }, "");
}
