// Deployments with their code, for the rows of `serverless-endpoints.ts`.
import { createHash, randomUUID } from "node:crypto";
import type { TestCaller } from "../support/fixtures.ts";
import { at } from "./row.ts";
import type { Target, World } from "./world.ts";

const CODE = "any bytes will do";

export function deploymentBody() {
  const fileHash = createHash("sha256").update(CODE).digest("hex");
  return { name: randomUUID(), image: "alpine", file_hash: fileHash, file_size: CODE.length, storage: 10 };
}

/** The upload of the code of a new deployment. */
export async function anUpload(world: World, user: TestCaller): Promise<Target> {
  return (await made(world, user)).upload;
}

export async function aDeployment(world: World, user: TestCaller): Promise<number> {
  const { id, upload } = await made(world, user);
  const { status, text } = await world.send("POST", upload);
  if (status !== 200) throw new Error(text);
  return id;
}

async function made(world: World, user: TestCaller): Promise<{ readonly id: number; readonly upload: Target }> {
  const answer = await world.done("PUT", at("/api/v0/deployments/", deploymentBody()), user);
  const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="c"\r\n\r\n';
  const upload = {
    path: new URL(String(answer["upload_url"])).pathname,
    text: `${head}${CODE}\r\n--b--\r\n`,
    headers: { "content-type": "multipart/form-data; boundary=b" },
  };
  return { id: Number(answer["deployment_id"]), upload };
}
