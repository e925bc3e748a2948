import { run, type Answer } from "../berth.ts";

const LIMIT_S = 300;

/** One request by the real curl, as a person types it. Redirects are not followed. */
export async function curl(
  method: string,
  url: string,
  { key, body }: { key?: string; body?: unknown } = {},
): Promise<Answer> {
  const args = [
    "-sS",
    "--globoff",
    "--max-time",
    String(LIMIT_S),
    "-X",
    method,
    "-w",
    "\n%{http_code} %{content_type}",
  ];
  if (key !== undefined) args.push("-H", `Authorization: Bearer ${key}`);
  if (body !== undefined) args.push("-H", "Content-Type: application/json", "-d", JSON.stringify(body));
  const { code, stdout, stderr } = await run("curl", [...args, url]);
  if (code !== 0) throw new Error(`curl ended with ${code}: ${stderr}`);
  const split = stdout.lastIndexOf("\n");
  const [status = "", contentType = ""] = stdout.slice(split + 1).split(/ (.*)/s);
  const text = stdout.slice(0, split);
  const isJson = contentType === "application/json";
  return {
    status: Number(status),
    contentType,
    retryAfter: undefined,
    text,
    body: isJson ? JSON.parse(text) : undefined,
  };
}
