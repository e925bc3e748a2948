import type { PlainOperation } from "./plain-operation.ts";

const BEARER = [{ bearer: [] }];
const ID = {
  name: "id",
  in: "path",
  required: true,
  description: "Id of the instance",
  example: 77,
  schema: { type: "integer" },
};
const inQuery = (name: string, description: string, example: unknown, schema: object, required = false) => ({
  name,
  in: "query",
  required,
  description,
  example,
  schema,
});
const FILE_PATH = inQuery("path", "Absolute path in the instance", "/workspace/model.pt", { type: "string" }, true);
const side = (name: string, what: string, example: number) =>
  inQuery(name, `${what} of the terminal at its start`, example, { type: "integer", minimum: 1, maximum: 1000 });

/** Terminals and the contents of files, which are no JSON. */
export const INSTANCE_PATHS: Readonly<Record<string, Readonly<Record<string, PlainOperation>>>> = {
  "/api/v0/instances/{id}/terminal/": {
    get: {
      operationId: "api.instance.terminal",
      tag: "Instances",
      summary: "Open a terminal in a running instance",
      description:
        'Opens a WebSocket to a shell in the instance (docs/ssh.md#in-a-browser). Binary messages are bytes both ways; a text message `{"type": "resize", "cols": 120, "rows": 40}` changes the size. The close reason is a sentence. 400 `websocket_required` without an upgrade, 403 `foreign_origin` for pages of other sites, 409 `not_running`, `host_offline`, `shell_unavailable` or `too_many_terminals`.',
      security: BEARER,
      parameters: [ID, side("cols", "Columns", 120), side("rows", "Rows", 40)],
      answer: [
        "application/octet-stream",
        { type: "string", format: "binary", description: "What the shell prints" },
        "$ ",
      ],
    },
  },
  "/api/v0/instances/{id}/files/content/": {
    get: {
      operationId: "api.instance.download_file",
      tag: "Instances",
      summary: "Download a file of a running instance",
      description:
        "Returns the bytes of the file at `path`, as it is while they are read. 404 `no_such_file`, 409 `not_a_file`, and as for listing.",
      security: BEARER,
      parameters: [ID, FILE_PATH],
      answer: ["application/octet-stream", { type: "string", format: "binary", description: "The file" }, "bytes"],
    },
    put: {
      operationId: "api.instance.upload_file",
      tag: "Instances",
      summary: "Upload a file to a running instance",
      description:
        "Writes the body, at most 10 GB, to a name of its own beside `path`, and renames it once it is whole. 409 `file_exists` unless `overwrite` is true, 409 `disk_full`, 400 `file_too_large`, 404 `no_such_file` without the folder, and as for listing.",
      security: BEARER,
      parameters: [
        ID,
        FILE_PATH,
        inQuery("overwrite", "True to replace a file that is there", true, { type: "boolean" }),
      ],
      request: ["application/octet-stream", { type: "string", format: "binary", description: "The file" }, "bytes"],
      answer: [
        "application/json",
        {
          title: "FileDone",
          type: "object",
          required: ["success", "path"],
          properties: {
            success: { type: "boolean", enum: [true] },
            path: { type: "string", description: "Path of what was written, made or deleted" },
          },
        },
        { success: true, path: "/workspace/model.pt" },
      ],
    },
  },
};
