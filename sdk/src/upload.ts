import { ApiError, ConnectionError } from "./client.ts";

/** The address of an upload, from an answer of the server; it works without a key. */
export type UploadAddress = {
  readonly url: string;
  /** Form fields that are sent unchanged before the file. */
  readonly fields: Readonly<Record<string, string>>;
};

/** Sends a file as a form. Throws `ApiError` for a refusal and `ConnectionError` when no answer came. */
export async function uploadFile(
  { url, fields }: UploadAddress,
  file: Blob,
  options: { readonly fetch?: typeof fetch; readonly signal?: AbortSignal } = {},
): Promise<void> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("file", file, "file");
  const { fetch: send = fetch, signal = null } = options;
  let response: Response;
  let text: string;
  try {
    response = await send(url, { method: "POST", body: form, signal });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ConnectionError(`the upload to ${new URL(url).origin} broke off`, { cause: error });
  }
  if (!response.ok) throw refusalOf(response, text);
}

function refusalOf({ status, headers }: Response, text: string): ApiError {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = {};
  }
  const members = typeof body === "object" && body !== null ? { ...body } : {};
  return new ApiError(status, members, headers.get("x-request-id") ?? undefined);
}
