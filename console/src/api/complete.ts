import { nowMs } from "../clock.ts";

type Asked = {
  /** Name of the endpoint, and its own key. */
  readonly name: string;
  readonly key: string;
  /** `chat/completions` or `completions`. */
  readonly kind: string;
  readonly body: string;
};
export type Completion = { readonly status: number; readonly text: string; readonly seconds: number };

/** Sends a request in OpenAI's form to an endpoint, through the server; a refusal is an answer too. */
export async function complete({ name, key, kind, body }: Asked): Promise<Completion> {
  const startMs = nowMs();
  const answer = await fetch(`/${encodeURIComponent(name)}/v1/${kind}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body,
    credentials: "omit",
    cache: "no-store",
  });
  const text = await answer.text();
  return { status: answer.status, text, seconds: (nowMs() - startMs) / 1000 };
}
