import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { callEndpoint } from "../../../../sdk/src/endpoint-client.ts";
import { endpointShow } from "../../../../sdk/src/operations.ts";
import { addressesOf, connect, type ConnectionOptions } from "../../connect.ts";
import { UserError } from "../../failure.ts";
import { printLine } from "../../output.ts";

type Options = ConnectionOptions & {
  readonly route: string;
  readonly cost: number;
  readonly data: object;
  readonly timeout: number;
};

/** Sends one request to a worker of an endpoint group and prints the answer as it comes. */
export async function requestEndpoint(id: number, options: Options): Promise<void> {
  const { result } = await endpointShow(connect(options), { id });
  const baseUrl = addressesOf(options);
  await trustWorkers(baseUrl);
  const { response } = await callEndpoint(
    { baseUrl, endpoint: result.endpoint_name, endpointKey: result.api_key },
    {
      route: options.route,
      cost: options.cost,
      payload: options.data,
      timeoutMs: options.timeout * 1000,
      isStream: true,
      onStatus: (status) => process.stderr.write(`${status.replace(/\p{Cc}+/gu, " ")}\n`),
    },
  );
  if (response.body !== null) await print(response.body);
}

const NEWLINE = 10;

async function print(body: ReadableStream<Uint8Array>): Promise<void> {
  let last: number | undefined;
  const endLine = () => (last === undefined || last === NEWLINE ? undefined : printLine(""));
  try {
    for await (const chunk of body) {
      process.stdout.write(chunk);
      last = chunk.at(-1) ?? last;
    }
  } catch (error) {
    endLine();
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new UserError(
      `the answer broke off: ${reason}`,
      "The worker may have done the request; send it again only if that is harmless.",
    );
  }
  endLine();
}

const CERTIFICATE_TIMEOUT_MS = 10_000;

/**
 * Workers that encrypt have certificates of the servers' own authority; any of the servers hands out its root
 * certificate.
 */
async function trustWorkers(servers: readonly string[]): Promise<void> {
  for (const server of servers) {
    const signal = AbortSignal.timeout(CERTIFICATE_TIMEOUT_MS);
    const answer = await fetch(new URL("/static/jvastai_root.cer", server), { signal }).catch(() => undefined);
    if (answer?.ok !== true) continue;
    const certificate = await answer.text();
    if (!certificate.startsWith("-----BEGIN CERTIFICATE-----")) continue;
    setDefaultCACertificates([...getCACertificates("default"), certificate]);
    return;
  }
}
