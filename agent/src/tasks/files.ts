import { posix } from "node:path";
import type { Place } from "../wire/messages.ts";
import { fail, succeed, type Container, type Engine, type Program, type Result } from "../engine/engine.ts";
import { TOOLBOX_PATH } from "../machine/toolbox.ts";
import { FOLDER_PATH, type LoopbackProgram, type Sandbox, type SandboxRoot } from "./sandbox.ts";

/** An instance on this host. `busy`: it is just being made, started, stopped or removed. */
export type FoundInstance =
  | { readonly kind: "absent" }
  | { readonly kind: "busy" }
  | {
      readonly kind: "present";
      readonly container: Container;
      /** Folders of the host that it sees when it runs: its volumes. */
      readonly mounts: readonly { readonly source: string; readonly target: string }[];
    };

export type FilesContext = {
  readonly engine: Engine;
  /** The sandbox for work on files; undefined on a simulated host, which has none. */
  readonly sandbox: Sandbox | undefined;
  findInstance(instanceId: number): Promise<FoundInstance>;
  volumeDirectory(volumeId: number): string | undefined;
};

/** Somewhere with files on this host, in which busybox can be run. */
export type Site = {
  readonly key: string;
  /** The instance whose files may be open to one program at a time, since its container does not run. */
  readonly stoppedInstanceId: number | undefined;
  /** The path of the place's own root for a program that runs there. */
  readonly prefix: string;
  open(argv: readonly string[]): Promise<Result<Program>>;
};

/** The files of one instance: of its running container, or of the layer of one that does not run. */
export async function siteOfInstance(context: FilesContext, instanceId: number): Promise<Result<Site>> {
  const found = await context.findInstance(instanceId);
  if (found.kind !== "present") return notPresent(found.kind);
  const { container, mounts } = found;
  const { engine, sandbox } = context;
  if (!sandbox) return fail("refused", "this is a simulated instance, it has no files");
  const common = { key: `instance-${instanceId}`, prefix: "" };
  if (container.phase === "running") {
    const open = (argv: readonly string[]) => engine.open(container.id, [`${TOOLBOX_PATH}/busybox`, ...argv]);
    return succeed({ ...common, stoppedInstanceId: undefined, open });
  }
  const { layerDirectory } = container;
  if (layerDirectory === null) {
    return fail("refused", "this host can reach the files of running instances only; start it first");
  }
  const plain = mounts.map(({ source, target }) => ({ source, target: posix.normalize(`/${target}`) }));
  return succeed({
    ...common,
    stoppedInstanceId: instanceId,
    open: (argv) => sandbox.open({ kind: "layer", layerDirectory, mounts: plain }, argv),
  });
}

/** The reason for which nothing can be done with an instance. */
export function notPresent(kind: "absent" | "busy"): ReturnType<typeof fail> {
  if (kind === "absent") return fail("not_found", "the instance has no container on this host");
  return fail("conflict", "the instance is just being started, stopped or removed; ask again in a moment");
}

/** The files behind a place of a copy. A source volume cannot be written to. */
export async function siteOf(context: FilesContext, place: Place, isSource: boolean): Promise<Result<Site>> {
  if (place.kind === "instance") return siteOfInstance(context, place.id);
  const { sandbox } = context;
  if (!sandbox) return fail("refused", "this is a simulated volume, it has no files");
  const directory = context.volumeDirectory(place.id);
  if (directory === undefined) return fail("not_found", "the volume is not on this host");
  return succeed({
    key: `volume-${place.id}`,
    stoppedInstanceId: undefined,
    prefix: FOLDER_PATH,
    open: (argv) => sandbox.open({ kind: "folder", directory, isReadOnly: isSource }, argv),
  });
}

/**
 * The files of a backup: those that an instance has written, below `upper`, or those of a volume. Undefined on a simulated
 * host, which has no files.
 */
export async function siteOfBackup(context: FilesContext, place: Place): Promise<Result<Site | undefined>> {
  const { sandbox } = context;
  if (!sandbox) return succeed(undefined);
  if (place.kind === "volume") return siteOf(context, place, true);
  const found = await context.findInstance(place.id);
  if (found.kind !== "present") return notPresent(found.kind);
  const { layerDirectory } = found.container;
  if (layerDirectory === null) {
    return fail("refused", "this host does not keep what an instance writes apart from its image");
  }
  return succeed({
    key: `upper-${place.id}`,
    // The layer is read from the disk, so it has to be let go of before the disk changes, also when the instance runs.
    stoppedInstanceId: place.id,
    prefix: FOLDER_PATH,
    open: (argv) => sandbox.open({ kind: "upper", layerDirectory }, argv),
  });
}

/** Somewhere with files on this host, in which a program runs that is served on its loopback. */
export type CloudSite = Pick<Site, "stoppedInstanceId" | "prefix"> & {
  open(argv: readonly string[]): Promise<Result<LoopbackProgram>>;
};

/**
 * The files of a cloud copy's end at this host, undefined on a simulated one. Nothing of it runs inside the container, also
 * when that runs: its programs are not to see the keys.
 */
export async function siteOfCloudCopy(
  context: FilesContext,
  place: Place,
  isUpload: boolean,
): Promise<Result<CloudSite | undefined>> {
  const { sandbox } = context;
  if (!sandbox) return succeed(undefined);
  const site = (root: SandboxRoot, stoppedInstanceId: number | undefined, prefix: string) =>
    succeed({ stoppedInstanceId, prefix, open: (argv: readonly string[]) => sandbox.openWithLoopback(root, argv) });
  if (place.kind === "volume") {
    const directory = context.volumeDirectory(place.id);
    if (directory === undefined) return fail("not_found", "the volume is not on this host");
    return site({ kind: "folder", directory, isReadOnly: isUpload }, undefined, FOLDER_PATH);
  }
  const found = await context.findInstance(place.id);
  if (found.kind !== "present") return notPresent(found.kind);
  const { layerDirectory, phase } = found.container;
  if (layerDirectory === null) {
    return fail("refused", "this host does not keep what an instance writes apart from its image");
  }
  const mounts = found.mounts.map(({ source, target }) => ({ source, target: posix.normalize(`/${target}`) }));
  // The container's mount is held from here on, so it has to be let go of before the container starts or goes.
  return site({ kind: phase === "running" ? "merged" : "layer", layerDirectory, mounts }, place.id, "");
}

/** The path as a program there has to name it; a trailing slash stays, and nothing climbs above the place's root. */
export function pathIn(site: Pick<Site, "prefix">, path: string): string {
  return `${site.prefix}${posix.normalize(`/${path}`)}`;
}
