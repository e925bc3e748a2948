import { INSTANCE_PATHS } from "./instance-paths.ts";
import type { PlainOperation } from "./plain-operation.ts";
import type { Describer, Node } from "./schemas.ts";

const BEARER = [{ bearer: [] }];
const TEXT: Node = { type: "string", description: "The text" };
const BYTES: Node = { type: "string", format: "binary", description: "The file" };
const PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
const MEASURED = 'berth_instance_gpu_utilization_ratio{id="77",label="train",gpu="0"} 0.93\n';
const PROMETHEUS = "berth_agents_connected 1\n";

const inPath = (name: string, description: string, example: string | number, type = "string") => ({
  name,
  in: "path",
  required: true,
  description,
  example,
  schema: { type },
});
const TOKEN = inPath("token", "The secret part of the address", "r_2f81");
const DEPLOYMENT = inPath("id", "Id of the deployment", 6, "integer");

const object = (title: string, properties: Readonly<Record<string, Node>>, required: readonly string[] = []): Node => ({
  title,
  type: "object",
  required,
  properties,
  additionalProperties: true,
});
const SUCCESS: Node = {
  type: "object",
  required: ["success"],
  properties: { success: { type: "boolean", enum: [true] } },
};
const CHAT = object(
  "ChatCompletionRequest",
  {
    messages: {
      type: "array",
      description: "The conversation so far, as OpenAI's API has it",
      items: { type: "object", additionalProperties: true },
    },
    max_tokens: {
      type: "integer",
      description: "Most tokens of one answer; the request costs this many units, or 100 without it, times `n`",
    },
    n: { type: "integer", description: "Number of answers" },
    stream: { type: "boolean", description: "True for an answer as a stream of events" },
    model: { type: "string", description: "Ignored: the endpoint's worker has one model" },
  },
  ["messages"],
);
const PROMPT = object(
  "CompletionRequest",
  {
    prompt: { description: "The text to complete, or a list of texts or tokens" },
    max_tokens: {
      type: "integer",
      description: "Most tokens of one answer; the request costs this many units, or 100 without it, times `n`",
    },
    n: { type: "integer", description: "Number of answers" },
    stream: { type: "boolean", description: "True for an answer as a stream of events" },
    model: { type: "string", description: "Ignored: the endpoint's worker has one model" },
  },
  ["prompt"],
);
const COMPLETION = object("Completion", {
  choices: {
    type: "array",
    description: "Answers of the worker",
    items: { type: "object", additionalProperties: true },
  },
});

/** The two operations of OpenAI's API, each at both base addresses that its SDKs are given. */
function completionPaths(): Readonly<Record<string, { readonly post: PlainOperation }>> {
  const kinds = [
    ["chat/completions", "complete_chat", "Complete a chat", CHAT, { messages: [{ role: "user", content: "Hello" }] }],
    ["completions", "complete", "Complete a text", PROMPT, { prompt: "Once", max_tokens: 20 }],
  ] as const;
  const paths = kinds.flatMap(([kind, name, summary, body, example]) =>
    ["/{endpoint}/v1/", "/{endpoint}/"].map((prefix, index) => [
      `${prefix}${kind}`,
      {
        post: {
          operationId: `api.endpoint.${name}${index === 0 ? "" : ".alias"}`,
          tag: "Serverless",
          summary,
          description:
            "Passes a request of OpenAI's API on to a worker of the endpoint and its answer back, also as a stream. The key is the account's or the endpoint's own. Errors have the form of OpenAI's API: 404 `no_such_endpoint`, 503 `no_worker` or `too_many_waiting`.",
          security: BEARER,
          parameters: [inPath("endpoint", "Name of the endpoint", "llama")],
          request: ["application/json", body, example],
          answer: ["application/json", COMPLETION, { choices: [{ index: 0, text: "upon a time" }] }],
        },
      },
    ]),
  );
  return Object.fromEntries(paths) as Readonly<Record<string, { readonly post: PlainOperation }>>;
}

const FILES = "/api/v0/deployment/{id}/files/{token}/";

const PLAIN: Readonly<Record<string, Readonly<Record<string, PlainOperation>>>> = {
  ...completionPaths(),
  ...INSTANCE_PATHS,
  "/openapi.json": {
    get: {
      operationId: "api.docs.openapi",
      tag: "Health",
      summary: "Get this description",
      description: "Returns the OpenAPI document of this server. It needs no key.",
      answer: ["application/json", { type: "object", additionalProperties: true }, { openapi: "3.1.0" }],
    },
  },
  "/docs": {
    get: {
      operationId: "api.docs.page",
      tag: "Health",
      summary: "Get this description as a page",
      description: "Returns the OpenAPI document of this server as an HTML page. It needs no key.",
      answer: ["text/html", TEXT, '<!doctype html><html lang="en"><title>Berth API</title></html>'],
    },
  },
  "/metrics": {
    get: {
      operationId: "api.metrics",
      tag: "Administration",
      summary: "Get figures for monitoring",
      description:
        "Returns figures of the process and the market in the text format of Prometheus. 403 for anybody but administrators.",
      security: BEARER,
      answer: ["text/plain", TEXT, PROMETHEUS],
    },
  },
  "/api/v0/instances/metrics/": {
    get: {
      operationId: "api.instance.metrics",
      tag: "Instances",
      summary: "Get the measurements of your instances for Prometheus",
      description:
        "Returns the last measurements of the caller's running instances in the text format of Prometheus, with the labels `id`, `label` and `gpu`. An instance that has not been measured for a minute is left out.",
      security: BEARER,
      answer: ["text/plain", TEXT, MEASURED],
    },
  },
  "/api/v0/instance_backups/{contract_id}/files/{name}/": {
    get: {
      operationId: "api.backup.file",
      tag: "Instances",
      summary: "Get the file of a backup",
      description:
        "Serves the archive of a backup to the token from `GET /api/v0/instance_backups/{contract_id}/download/`: as the whole value of the header `Authorization`, or in the query. A key of an account opens nothing here. 404 `no_such_backup`.",
      parameters: [
        inPath("contract_id", "Id of the instance or the volume", 77, "integer"),
        inPath("name", "Name of the file", "instance-77.tar.gz"),
        {
          name: "Authorization",
          in: "query",
          required: false,
          description: "The token, where no header is sent",
          example: "7.1767229200.c2ln",
          schema: { type: "string" },
        },
      ],
      answer: ["application/gzip", BYTES, "instance-77.tar.gz"],
    },
  },
  "/api/v0/results/{token}/": {
    get: {
      operationId: "api.result.show",
      tag: "Instances",
      summary: "Get the result of a request to a host",
      description:
        "Returns the text that a `result_url` promises, for ten minutes; the address is the credential. 404 `no_such_result` until the text is there, and after that time.",
      parameters: [TOKEN],
      answer: ["text/plain", TEXT, "epoch 1: loss 0.42\n"],
    },
  },
  "/static/jvastai_root.cer": {
    get: {
      operationId: "api.certificate.root",
      tag: "Instances",
      summary: "Get the root certificate",
      description: "Returns the certificate of the authority that signs certificates of instances. It needs no key.",
      answer: ["application/x-x509-ca-cert", TEXT, PEM],
    },
  },
  "/api/v0/sign_cert/": {
    post: {
      operationId: "api.certificate.sign",
      tag: "Instances",
      summary: "Sign a certificate for an instance",
      description:
        "Signs the certificate request of an instance, which calls it from its host's address. 503 `certificate_authority_sealed` where the authority's key cannot be read.",
      parameters: [
        {
          name: "instance_id",
          in: "query",
          required: true,
          description: "Id of the instance",
          example: 77,
          schema: { type: "integer" },
        },
      ],
      request: [
        "application/octet-stream",
        TEXT,
        "-----BEGIN CERTIFICATE REQUEST-----\nMIIB\n-----END CERTIFICATE REQUEST-----\n",
      ],
      answer: ["application/x-pem-file", TEXT, PEM],
    },
  },
  "/pubkey/": {
    get: {
      operationId: "api.route.public_key",
      tag: "Serverless",
      summary: "Get the key that signs routes",
      description: "Returns the public key, as PEM, that checks the signatures of `POST /route/`. It needs no key.",
      answer: ["text/plain", TEXT, "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n"],
    },
  },
  [FILES]: {
    get: {
      operationId: "api.deployment.file",
      tag: "Deployments",
      summary: "Get the code of a deployment",
      description:
        "Serves the code at the address that `download_url` names, for ten minutes; the address is the credential. 404 `no_such_file`.",
      parameters: [DEPLOYMENT, TOKEN],
      answer: ["application/gzip", BYTES, "code.tar.gz"],
    },
    post: {
      operationId: "api.deployment.upload",
      tag: "Deployments",
      summary: "Upload the code of a deployment",
      description:
        "Takes the code at the address that `upload_url` names, for an hour; the address is the credential. 404 `no_such_file`, 409 `too_many_uploads`, 400 `invalid_args` for a form without a file.",
      parameters: [DEPLOYMENT, TOKEN],
      request: [
        "multipart/form-data",
        object("CodeUpload", {
          key: { type: "string", description: "The field that `upload_fields` names" },
          file: { type: "string", format: "binary", description: "The code, a .tar.gz file" },
        }),
        { key: "deployments/6/9f86d081.tar.gz", file: "code.tar.gz" },
      ],
      answer: ["application/json", SUCCESS, { success: true }],
    },
  },
  "/api/v0/billing/returned/": {
    get: {
      operationId: "api.billing.returned",
      tag: "Billing",
      summary: "Land after a payment",
      description: "Returns the page to which the payment provider sends users back. It needs no key.",
      answer: ["text/html", TEXT, '<!doctype html><html lang="en"><title>Payment</title></html>'],
    },
  },
  "/api/v0/billing/stripe/webhook/": {
    post: {
      operationId: "api.billing.webhook",
      tag: "Billing",
      summary: "Receive an event of the payment provider",
      description: "Takes a signed event of the payment provider, which alone calls it. 400 `invalid_signature`.",
      request: [
        "application/json",
        { type: "object", additionalProperties: true, description: "An event of the provider" },
        { id: "evt_1", type: "checkout.session.completed" },
      ],
      answer: ["application/json", SUCCESS, { success: true }],
    },
  },
};

function operationOf(
  { tag, security = [], parameters, request, answer, ...said }: PlainOperation,
  describer: Describer,
) {
  const content = ([type, node, example]: PlainOperation["answer"]) => {
    const { schema } = describer.describe(node, { owner: said.operationId });
    return { [type]: { schema, example } };
  };
  return {
    ...said,
    "x-sdk": false,
    tags: [tag],
    ...(parameters && { parameters }),
    ...(request && { requestBody: { required: true, content: content(request) } }),
    security,
    responses: {
      200: { description: "Success", content: content(answer) },
      "4XX": { $ref: "#/components/responses/Refused" },
      "5XX": { $ref: "#/components/responses/Failed" },
    },
  };
}

/** The path items of these operations; their models join those of the other operations. */
export function plainPaths(describer: Describer): Readonly<Record<string, object>> {
  const items = Object.entries(PLAIN).map(([path, item]) => {
    const operations = Object.entries(item).map(([method, one]) => [method, operationOf(one, describer)]);
    return [path, Object.fromEntries(operations)];
  });
  return Object.fromEntries(items) as Readonly<Record<string, object>>;
}
