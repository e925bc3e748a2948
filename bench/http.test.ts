import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { run } from "./http.ts";
import { median, quantile } from "./support/figures.ts";
import { performJob } from "./support/load-process.ts";
import { requestText } from "./support/load.ts";

test("a small HTTP benchmark runs to its end", async () => {
  await run(["--seconds", "1", "--rounds", "1", "--connections", "4", "--users", "2", "--warm-up-ms", "50"]);
});

test("the load generator sends each request once, whole, and hands its answer back in place", async (t) => {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = `${request.url} ${Buffer.concat(chunks).toString()} ${"ü".repeat(70_000)}`;
      response.writeHead(request.url === "/3" ? 410 : 200, { "content-length": Buffer.byteLength(body) }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const requests = Array.from({ length: 20 }, (_, index) =>
    requestText({ method: "PUT", path: `/${index}`, body: { sent: index } }),
  );
  const result = await performJob({ port, connections: 3, requests, repeatMs: undefined, keepsAnswers: true });
  assert.equal(result.count, 20);
  assert.deepEqual(
    [...result.statuses].toSorted(([a], [b]) => a - b),
    [
      [200, 19],
      [410, 1],
    ],
  );
  result.answers.forEach((answer, index) => {
    assert.ok(answer !== undefined && answer.body.startsWith(`/${index} {"sent":${index}} ü`));
    assert.equal(answer.body.length, `/${index} {"sent":${index}} `.length + 70_000);
  });
});

test("the median lies in the middle and a quantile never leaves the values", () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.equal(quantile([1, 2, 3, 4], 1), 4);
  assert.equal(quantile([], 0.5), 0);
});
