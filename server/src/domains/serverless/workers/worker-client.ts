import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { Readable } from "node:stream";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import type { InstanceId } from "../../../base/ids.ts";
import { subjectOf } from "../../rental/instances/for-serverless.ts";
import type { Assignment } from "../routing/endpoint-router.ts";

/** Published timeout of a request to a worker. */
const TIMEOUT_MS = 600_000;
const REFUSAL_BYTES_MAX = 65_536;

export type WorkerRequest = {
  readonly url: Assignment["url"];
  readonly workerId: Assignment["workerId"];
  /** The path of the operation, such as `/v1/completions`. */
  readonly path: string;
  readonly body: unknown;
  /** Aborts when no client waits for the answer any more. */
  readonly gone: AbortSignal;
};

export type WorkerAnswer =
  /** The worker has begun to answer: the body follows as fast as it is read. */
  | { readonly kind: "answer"; readonly contentType: string; readonly body: Readable }
  | { readonly kind: "refusal"; readonly status: number; readonly contentType: string; readonly text: string }
  /** The worker could not be reached, or the connection broke before its answer. */
  | { readonly kind: "lost"; readonly reason: string };

/** Sends requests to workers. Their addresses were checked to be their own, and redirects are not followed. */
export class WorkerClient {
  readonly #plainAgent = new http.Agent({ keepAlive: true });
  readonly #rootCertificate: () => Promise<string>;
  #secureAgent: Promise<https.Agent> | undefined;

  /** `rootCertificate`: the certificate of the authority that signs the certificates of workers. */
  constructor(rootCertificate: () => Promise<string>) {
    this.#rootCertificate = rootCertificate;
  }

  async send(request: WorkerRequest): Promise<WorkerAnswer> {
    let message: IncomingMessage | undefined;
    try {
      message = await this.#open(request);
      const { statusCode = 502, headers } = message;
      const contentType = headers["content-type"] ?? "application/json";
      if (statusCode < 200 || statusCode > 299) {
        return { kind: "refusal", status: statusCode, contentType, text: await readStart(message) };
      }
      return { kind: "answer", contentType, body: await begun(message) };
    } catch (error) {
      message?.destroy();
      const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
      return { kind: "lost", reason: code ?? (error instanceof Error ? error.message : String(error)) };
    }
  }

  close(): void {
    this.#plainAgent.destroy();
    void this.#secureAgent?.then((agent) => agent.destroy());
  }

  async #open({ url, workerId, path, body, gone }: WorkerRequest): Promise<IncomingMessage> {
    const text = Buffer.from(JSON.stringify(body));
    const isSecure = url.startsWith("https:");
    const options: https.RequestOptions = {
      method: "POST",
      ...(isSecure ? { checkServerIdentity: identityOf(workerId) } : {}),
      agent: isSecure ? await this.#trustingAgent() : this.#plainAgent,
      headers: { "content-type": "application/json", "content-length": text.length },
      signal: gone,
      timeout: TIMEOUT_MS,
    };
    return new Promise((resolve, reject) => {
      const request = (isSecure ? https : http).request(new URL(path, url), options, resolve);
      request.on("timeout", () => request.destroy(new Error("it did not answer in time")));
      request.on("error", reject);
      request.end(text);
    });
  }

  #trustingAgent(): Promise<https.Agent> {
    this.#secureAgent ??= this.#rootCertificate().then(
      (ca) => new https.Agent({ keepAlive: true, ca }),
      (error: unknown) => {
        this.#secureAgent = undefined;
        throw error;
      },
    );
    return this.#secureAgent;
  }
}

/**
 * The certificate has to name the worker's own instance beside its address: a certificate for an earlier instance at
 * this address is refused even before it expires.
 */
export function identityOf(workerId: InstanceId): (host: string, certificate: PeerCertificate) => Error | undefined {
  return (host, certificate) => {
    const isOwn = certificate.subject.CN === subjectOf(workerId);
    return checkServerIdentity(host, certificate) ?? (isOwn ? undefined : new Error("its certificate is another's"));
  };
}

/** Waits for the first bytes: until then another worker can be asked without the client noticing. */
async function begun(message: IncomingMessage): Promise<Readable> {
  const chunks = message[Symbol.asyncIterator]();
  const first = await chunks.next();
  async function* all() {
    if (first.done === true) return;
    yield first.value;
    for await (const chunk of { [Symbol.asyncIterator]: () => chunks }) yield chunk;
  }
  const body = Readable.from(all(), { objectMode: false });
  // A reader that stops ends the worker's request.
  body.once("close", () => message.destroy());
  return body;
}

async function readStart(message: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of message.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > REFUSAL_BYTES_MAX) break;
  }
  return text.slice(0, REFUSAL_BYTES_MAX);
}
