import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { aSelfSignedCertificate } from "./self-signed.ts";

/** A server that speaks S3 over TLS on this machine's loopback, with one bucket. */
export type S3Server = {
  /** The name in its certificate; copies under test resolve it to the loopback. */
  readonly name: string;
  readonly port: number;
  readonly bucket: string;
  /** Its certificate, which a client has to trust. */
  readonly certificateFile: string;
  readonly keys: { readonly accessKey: string; readonly secretAccessKey: string };
  /** The content of an object; undefined when there is none. */
  read(key: string): Promise<string | undefined>;
  close(): Promise<void>;
};

const PROGRAM = path.join(import.meta.dirname, "../../../node_modules/s3rver/bin/s3rver.js");
const NAME = "storage.test";
const BUCKET = "bucket";

export async function startS3Server(): Promise<S3Server> {
  const directory = await mkdtemp(path.join(tmpdir(), "berth-s3-"));
  const [certFile, keyFile] = [path.join(directory, "tls.crt"), path.join(directory, "tls.key")];
  const { cert, key } = aSelfSignedCertificate(NAME);
  await writeFile(certFile, cert);
  await writeFile(keyFile, key);
  const data = path.join(directory, "data");
  const args = ["-d", data, "-a", "127.0.0.1", "-p", "0", "--no-vhost-buckets", "--configure-bucket", BUCKET];
  const server = spawn(process.execPath, [PROGRAM, ...args, "--key", keyFile, "--cert", certFile], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise<number>((resolve, reject) => {
    let said = "";
    server.stdout.on("data", (text: Buffer) => {
      said += text.toString("utf8");
      const found = /listening on \S+:(\d+)/.exec(said)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
    server.once("exit", () => reject(new Error(`the S3 server ended: ${said}`)));
  });
  return {
    ...{ name: NAME, port, bucket: BUCKET, certificateFile: certFile },
    keys: { accessKey: "S3RVER", secretAccessKey: "S3RVER" },
    async read(object) {
      const file = path.join(data, BUCKET, `${object}._S3rver_object`);
      const isThere = await access(file).then(
        () => true,
        () => false,
      );
      return isThere ? readFile(file, "utf8") : undefined;
    },
    async close() {
      const ended = once(server, "exit");
      server.kill("SIGKILL");
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
