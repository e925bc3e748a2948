import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { fail, type CommitRequest, type Result } from "../engine/engine.ts";
import type { Call } from "./connection.ts";
import { readCreatedId, readImageLaunch, type ImageLaunch } from "./read.ts";

const words = Type.Union([Type.Array(Type.String()), Type.Null()]);
const made = Compile(
  Type.Object({
    Image: Type.String(),
    Config: Type.Object({
      Env: words,
      Labels: Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]),
    }),
  }),
);

/**
 * Makes an image of a container's files. What the platform added to the container is left behind as far as the engine
 * lets it be: the image starts as the one it came from, its labels and variables of the run (tokens, keys) are empty.
 */
export async function commitContainer(
  call: (call: Call) => Promise<Result<unknown>>,
  id: string,
  request: CommitRequest,
): Promise<Result<string>> {
  const container = await call({ method: "GET", path: `/containers/${id}/json` });
  if (!container.ok) return container;
  if (!made.Check(container.value)) return unknownForm();
  const image = await call({ method: "GET", path: `/images/${container.value.Image}/json` });
  if (!image.ok) return image;
  const launch = readImageLaunch(image.value);
  if (!launch) return unknownForm();
  const { Env, Labels } = container.value.Config;
  const committed = await call({
    method: "POST",
    path: "/commit",
    query: { container: id, repo: request.repository, tag: request.tag, pause: String(request.isPaused) },
    body: imageConfig(launch, Env ?? [], Object.keys(Labels ?? {})),
    isSlow: true,
  });
  if (!committed.ok) return committed;
  const imageId = readCreatedId(committed.value);
  return imageId === undefined ? unknownForm() : { ok: true, value: imageId };
}

/** Names every setting: the engine takes missing ones from the container. */
function imageConfig(launch: ImageLaunch, env: readonly string[], labels: readonly string[]): object {
  const nameOf = (variable: string) => variable.slice(0, variable.indexOf("="));
  const kept = new Set(launch.env.map(nameOf));
  const emptied = env.map(nameOf).filter((name) => name !== "" && !kept.has(name));
  return {
    Env: [...launch.env, ...emptied.map((name) => `${name}=`)],
    Labels: Object.fromEntries(labels.map((name) => [name, ""])),
    Entrypoint: launch.entrypoint,
    Cmd: launch.command,
  };
}

function unknownForm(): ReturnType<typeof fail> {
  return fail("refused", "the engine's answer has an unknown form");
}
