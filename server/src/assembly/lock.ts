import { createHash } from "node:crypto";
import { mkdir, realpath } from "node:fs/promises";
import net from "node:net";
import { errorCode } from "../db/embedded/failure.ts";

const ANSWER_LIMIT_MS = 1_000;
const ATTEMPTS_MAX = 20;

export type DataDirLock =
  | { readonly kind: "locked"; release(): Promise<void> }
  /** Another process works on the directory; its id is undefined when it gave no answer. */
  | { readonly kind: "held"; readonly holderPid: number | undefined };

/**
 * Makes this process the only one that works on a data directory, which is created when missing. The lock is a socket
 * in the kernel's abstract namespace, named after the real path: it has no file that could grow stale, and the kernel
 * frees it at the very moment its owner ends, however it ends. It does not reach across network namespaces, so two
 * containers that share one data directory are not kept apart.
 */
export async function lockDataDir(directory: string): Promise<DataDirLock> {
  await mkdir(directory, { recursive: true, mode: 0o711 });
  const name = socketName(await realpath(directory));
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const server = await listen(name);
    if (server !== undefined) {
      return { kind: "locked", release: () => new Promise((resolve) => server.close(() => resolve())) };
    }
    const answer = await askHolder(name);
    if (answer !== "gone") return { kind: "held", holderPid: answer };
  }
  return { kind: "held", holderPid: undefined };
}

/** Hashed, since the kernel takes 107 bytes at most. The zero in front makes the name an abstract one. */
function socketName(realDirectory: string): string {
  return `\0berth-data-dir-${createHash("sha256").update(realDirectory).digest("hex").slice(0, 40)}`;
}

function listen(name: string): Promise<net.Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = net.createServer((socket) => {
      socket.on("error", () => {}); // The process that asked has gone away.
      socket.end(String(process.pid));
    });
    server.once("error", (error) => (errorCode(error) === "EADDRINUSE" ? resolve(undefined) : reject(error)));
    server.listen(name, () => {
      server.unref();
      resolve(server);
    });
  });
}

/** The holder's process id, undefined when it does not say, or `gone` when it ended between the two looks. */
function askHolder(name: string): Promise<number | undefined | "gone"> {
  return new Promise((resolve) => {
    const socket = net.connect(name);
    let text = "";
    socket.setTimeout(ANSWER_LIMIT_MS, () => {
      resolve(undefined);
      socket.destroy();
    });
    socket.on("data", (chunk) => (text += chunk.toString("utf8")));
    socket.on("error", () => resolve("gone"));
    socket.on("end", () => resolve(/^\d+$/.test(text) ? Number(text) : "gone"));
  });
}
