import { invalid } from "../../../../base/errors.ts";
import { asParameters, type Parameters } from "../../../../base/access.ts";

/** The two operations of OpenAI's API that workers answer. */
export type CompletionKind = "chat/completions" | "completions";

export type Completion = {
  /** The body for the worker: the request without ignored members. */
  readonly payload: Parameters;
  /** Cost in units of load, which are tokens here. */
  readonly cost: number;
};

/** Members that are dropped: the worker has one model under any name, and the others change no answer. */
const IGNORED: ReadonlySet<string> = new Set(["model", "user", "suffix"]);
/** Published default of a request's cost. */
const COST_DEFAULT = 100;
const TOKENS_MAX = 1e9;
const CHOICES_MAX = 128;

/**
 * Reads a request, in which null counts as absent; throws `invalid` naming a wrong member. Members that are unknown
 * here are left to the worker.
 */
export function readCompletion(kind: CompletionKind, body: Parameters): Completion {
  const rest = Object.fromEntries(Object.entries(body).filter(([name]) => !IGNORED.has(name)));
  if (typeof (body["stream"] ?? false) !== "boolean") {
    throw invalid("stream", "stream must be true or false");
  }
  const tokens =
    readCount("max_completion_tokens", body, TOKENS_MAX) ?? readCount("max_tokens", body, TOKENS_MAX) ?? COST_DEFAULT;
  const cost = tokens * (readCount("n", body, CHOICES_MAX) ?? 1);
  if (kind === "chat/completions") return { payload: { ...rest, messages: readMessages(body["messages"]) }, cost };
  if (!isPrompt(body["prompt"])) throw invalid("prompt", "prompt must be a text, or a list that is not empty");
  return { payload: rest, cost };
}

function readCount(name: string, body: Parameters, max: number): number | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw invalid(name, `${name} must be a whole number from 1 to ${max}`);
}

function isPrompt(prompt: unknown): boolean {
  return typeof prompt === "string" || (Array.isArray(prompt) && prompt.length > 0);
}

function readMessages(messages: unknown): readonly unknown[] {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw invalid("messages", "messages must be a list that is not empty");
  }
  return messages.map((message: unknown, index) => {
    if (typeof message !== "object" || message === null || Array.isArray(message)) {
      throw invalid(`messages[${index}]`, `messages[${index}] must be an object`);
    }
    const { content, ...rest } = asParameters(message);
    if (content === undefined) return rest;
    return { ...rest, content: Array.isArray(content) ? content.map(withoutDetail) : content };
  });
}

function withoutDetail(part: unknown): unknown {
  const members = asParameters(part);
  if (!Object.hasOwn(members, "image_url")) return part;
  const { detail: _, ...image } = asParameters(members["image_url"]);
  return typeof members["image_url"] === "object" ? { ...members, image_url: image } : part;
}
