import type { FastifyReply, FastifyRequest } from "fastify";
import { asParameters } from "../../../base/access.ts";

/** A failure as OpenAI's clients read it. */
export type OpenAiError = {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
};

export function openAiError(
  status: number,
  { message, code, param }: { readonly message: string; readonly code: string; readonly param?: string | undefined },
): OpenAiError {
  return { error: { message, type: typeOf(status), param: param ?? null, code } };
}

function typeOf(status: number): string {
  if (status === 401) return "authentication_error";
  if (status === 403) return "permission_error";
  if (status === 404) return "not_found_error";
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

/** Rewrites errors from the form of all other operations into OpenAI's form. */
export async function inOpenAiForm(_request: FastifyRequest, reply: FastifyReply, payload: unknown) {
  const { msg: message, error: code, field } = asParameters(payload);
  if (typeof message !== "string") return payload;
  return openAiError(reply.statusCode, {
    message,
    code: typeof code === "string" ? code : "rate_limited",
    param: typeof field === "string" ? field : undefined,
  });
}

/** Paths of OpenAI's API that endpoints do not have. */
const ABSENT =
  /^\/(?!api\/)[^/]+\/(v1\/.*|embeddings|moderations|models|responses|images\/.*|audio\/.*|files|batches|fine_tuning\/.*)$/;

/** Answers unknown paths with the paths that exist, in the form that the client expects. */
export async function explainAbsent(request: FastifyRequest, reply: FastifyReply, payload: unknown) {
  if (!request.is404) return payload;
  const path = request.url.replace(/\?.*$/s, "").replace(/\/+$/, "");
  if (!ABSENT.test(path)) return payload;
  const message = `There is no ${request.method} ${path}: endpoints answer POST to /v1/chat/completions and /v1/completions.`;
  const { error: code } = asParameters(payload);
  return openAiError(reply.statusCode, { message, code: typeof code === "string" ? code : "not_found" });
}
