// The rows of the operations that clients of OpenAI's API know.
import { once } from "node:events";
import { createServer } from "node:http";
import { asId, type EndpointGroupId } from "../../server/src/base/ids.ts";
import { addWorker } from "../../server/src/domains/serverless/index.ts";
import { inTransaction } from "../support/fixtures.ts";
import { aMachine, anInstanceRow } from "../support/hosts/machines.ts";
import { at, type Row } from "./row.ts";
import { anEndpoint } from "./serverless-endpoints.ts";

/** Starts a process that answers every request, as a worker that has nothing to do. */
async function aWorkerProcess(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.end("{}"));
  });
  server.listen(0, "127.0.0.1").unref();
  await once(server, "listening");
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}

/** An endpoint with a worker that is ready, asked with the endpoint's own key. */
function completion(path: string, body: object): Row {
  let url: Promise<string> | undefined;
  return {
    needs: "public",
    call: async (world) => {
      url ??= aWorkerProcess();
      const address = await url;
      const id = asId<EndpointGroupId>(await anEndpoint(world, world.owner));
      const { result } = await world.done("GET", at(`/api/v0/endptjobs/${id}/`), world.owner);
      const { endpoint_name: endpoint, api_key: key } = result as Readonly<Record<string, string>>;
      await inTransaction(world.database, async (tx) => {
        const instanceId = await anInstanceRow(tx, world.owner.id, await aMachine(tx, world.owner.id));
        await addWorker(tx, id, instanceId);
        const set = { url: address, ready_at: tx.now, reported_at: tx.now, claimed_perf: 1000 };
        await tx.db.updateTable("endpoint_workers").set(set).where("instance_id", "=", instanceId).execute();
      });
      return at(`/${endpoint}${path}?api_key=${key}`, body);
    },
  };
}

const CHAT = { messages: [{ role: "user", content: "Hello" }] };

/** Rows of completion routes, which OpenAPI leaves out. */
export const completionEndpoints = {
  "POST /{endpoint}/v1/chat/completions": completion("/v1/chat/completions", CHAT),
  "POST /{endpoint}/chat/completions": completion("/chat/completions", CHAT),
  "POST /{endpoint}/v1/completions": completion("/v1/completions", { prompt: "Once" }),
  "POST /{endpoint}/completions": completion("/completions", { prompt: "Once" }),
} satisfies Readonly<Record<string, Row>>;
