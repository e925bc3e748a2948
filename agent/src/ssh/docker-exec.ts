import { Agent, request, type ClientRequest, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { json as readJson } from "node:stream/consumers";

export type ExecSpec = {
  readonly argv: readonly string[];
  readonly env: readonly string[];
  readonly hasTty: boolean;
};

/** The process id is the host's; 0 as long as there is no process. The exit code is null until it has ended. */
export type ExecState = { readonly isRunning: boolean; readonly exitCode: number | null; readonly pid: number };
export type WindowSize = { readonly rows: number; readonly columns: number };

/**
 * Programs in containers with both directions as one raw stream, which the agent's ordinary client for the engine
 * cannot give. Everything rejects with the engine's own words.
 */
export type DockerExec = {
  create(containerId: string, spec: ExecSpec): Promise<string>;
  /** The stream: as the terminal writes it, or in frames without one; ending it ends the program's input. */
  start(execId: string, hasTty: boolean): Promise<Socket>;
  resize(execId: string, size: WindowSize): Promise<void>;
  inspect(execId: string): Promise<ExecState>;
  /** Programs of the container that still run and whose command begins with these words. */
  listRunning(containerId: string, argvStart: readonly string[]): Promise<readonly string[]>;
  close(): void;
};

type Send = (call: Call, headers?: Readonly<Record<string, string>>) => ClientRequest;
type Call = { readonly method: "GET" | "POST"; readonly path: string; readonly body?: object };

export function connectDockerExec(socketPath: string): DockerExec {
  const agent = new Agent({ keepAlive: true });
  const send: Send = ({ method, path, body }, headers = {}) => {
    const text = body === undefined ? "" : JSON.stringify(body);
    const sent = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text), ...headers };
    const outgoing = request({ socketPath, agent, method, path, headers: { Host: "docker", ...sent } });
    outgoing.end(text);
    return outgoing;
  };
  const call = (wanted: Call) =>
    new Promise<unknown>((resolve, reject) => {
      send(wanted)
        .once("error", reject)
        .once("response", (response: IncomingMessage) => {
          readAnswer(response).then(resolve, reject);
        });
    });
  const find = (execId: string) => call({ method: "GET", path: `/exec/${execId}/json` });

  return {
    create: async (containerId, spec) => {
      const streams = { AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: spec.hasTty };
      const body = { ...streams, Cmd: spec.argv, Env: spec.env, User: "0:0" };
      const id = field(await call({ method: "POST", path: `/containers/${containerId}/exec`, body }), "Id");
      if (typeof id !== "string") throw new Error("the engine gave no id");
      return id;
    },
    start: (execId, hasTty) => startExec(send, execId, hasTty),
    resize: async (execId, { rows, columns }) => {
      await call({ method: "POST", path: `/exec/${execId}/resize?h=${rows}&w=${columns}` });
    },
    inspect: async (execId) => readState(await find(execId)),
    listRunning: async (containerId, argvStart) => {
      const ids = field(await call({ method: "GET", path: `/containers/${containerId}/json` }), "ExecIDs");
      const found: string[] = [];
      for (const id of Array.isArray(ids) ? ids : []) {
        if (typeof id !== "string") continue;
        const exec = await find(id);
        const words = argvOf(exec);
        if (readState(exec).isRunning && argvStart.every((word, index) => words[index] === word)) found.push(id);
      }
      return found;
    },
    close: () => agent.destroy(),
  };
}

function startExec(send: Send, execId: string, hasTty: boolean): Promise<Socket> {
  const body = { Detach: false, Tty: hasTty };
  const upgrade = { Connection: "Upgrade", Upgrade: "tcp" };
  return new Promise((resolve, reject) => {
    send({ method: "POST", path: `/exec/${execId}/start`, body }, upgrade)
      .once("error", reject)
      .once("upgrade", (_response: IncomingMessage, socket: Socket, head: Buffer) => {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      })
      .once("response", (response: IncomingMessage) => {
        readAnswer(response).then(() => reject(new Error("the engine gave no stream")), reject);
      });
  });
}

function readState(exec: unknown): ExecState {
  const code = field(exec, "ExitCode");
  const pid = field(exec, "Pid");
  return {
    isRunning: field(exec, "Running") === true,
    exitCode: typeof code === "number" ? code : null,
    pid: typeof pid === "number" ? pid : 0,
  };
}

function argvOf(exec: unknown): readonly unknown[] {
  const config = field(exec, "ProcessConfig");
  const rest: unknown = field(config, "arguments");
  return [field(config, "entrypoint"), ...(Array.isArray(rest) ? rest : [])];
}

async function readAnswer(response: IncomingMessage): Promise<unknown> {
  const status = response.statusCode ?? 0;
  const answer: unknown = await readJson(response).catch(() => undefined);
  if (status >= 200 && status < 300) return answer;
  const message = field(answer, "message");
  throw new Error(typeof message === "string" ? message : `the engine answered ${status}`);
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
