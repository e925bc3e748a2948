import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { AppError } from "../base/errors.ts";

/** A refusal that is sent before there is a request which a route could answer. */
type EarlyError = { readonly status: number; readonly error: AppError };

const HEADERS_TOO_LARGE: EarlyError = {
  status: 431,
  error: new AppError("too_large", "headers_too_large", "The headers of the request are larger than 16 kB."),
};
const REQUEST_TIMEOUT: EarlyError = {
  status: 408,
  error: new AppError(
    "timeout",
    "request_timeout",
    "The request did not arrive in time. Send it again, without pauses.",
  ),
};
const WRONG_VERSION: EarlyError = {
  status: 505,
  error: new AppError("invalid", "http_version", "This server speaks HTTP/1.1."),
};
const UNREADABLE: EarlyError = {
  status: 400,
  error: new AppError("invalid", "invalid_request", "The request could not be read."),
};
const EXPECTATION_FAILED: EarlyError = {
  status: 417,
  error: new AppError("invalid", "expectation_failed", "The only expectation that this server meets is 100-continue."),
};

/** Failures of Node's HTTP parser, by their codes. */
const BY_CODE: Readonly<Record<string, EarlyError>> = {
  HPE_HEADER_OVERFLOW: HEADERS_TOO_LARGE,
  ERR_HTTP_REQUEST_TIMEOUT: REQUEST_TIMEOUT,
  HPE_PAUSED_H2_UPGRADE: WRONG_VERSION,
  HPE_INVALID_VERSION: WRONG_VERSION,
};

/** Answers a connection whose request could not be read, in the documented shape, and closes it. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  // The client is gone, or an answer to an earlier request of this connection is on its way.
  if (error.code === "ECONNRESET" || !socket.writable || socket.bytesWritten > 0) return void socket.destroy();
  const early = BY_CODE[error.code ?? ""] ?? UNREADABLE;
  const body = bodyOf(early, requestId);
  const lines = [
    `HTTP/1.1 ${early.status} ${STATUS_CODES[early.status]}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    "Connection: close",
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}

/** Answers an `Expect` header that asks for anything but `100-continue`; Node's own answer has no body. */
export function answerExpectations(server: Server, nextRequestId: () => string): void {
  server.on("checkExpectation", (_request: IncomingMessage, response: ServerResponse) => {
    const requestId = nextRequestId();
    const body = bodyOf(EXPECTATION_FAILED, requestId);
    response.writeHead(EXPECTATION_FAILED.status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      "x-request-id": requestId,
      connection: "close",
    });
    response.end(body);
  });
}

function bodyOf({ error }: EarlyError, requestId: string): string {
  return JSON.stringify({ success: false, error: error.code, msg: error.publicMessage, request_id: requestId });
}
