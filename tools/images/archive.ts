// An image as one file: an OCI layout (image-spec 1.1), with the list beside it that `docker load` of every version reads.
import { createHash } from "node:crypto";
import { writeTar, type Layer } from "./layer.ts";
import { fileFrom, text, type Entry } from "./tree.ts";

/** The program of its containers, and facts about the image. */
export type ImageSettings = {
  readonly name: string;
  readonly version: string;
  /** The time that the image names as that of its making. */
  readonly madeAt: Date;
  readonly architecture: "amd64" | "arm64";
  readonly user: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly entryPoint: readonly string[];
  readonly command: readonly string[];
  readonly ports: readonly string[];
  readonly volumes: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** The program that tells whether the container is well; exit code 0 says yes. */
  readonly healthCheck?: readonly string[];
};

const NANOSECONDS = 1_000_000_000;
const HEALTH_SECONDS = { Interval: 15, Timeout: 10, StartPeriod: 120 };
const HEALTH_RETRIES = 4;
const MEDIA_TYPES = {
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  index: "application/vnd.oci.image.index.v1+json",
} as const;

type Blob = { readonly digest: string; readonly size: number; readonly entry: Entry };

/** Writes the image's archive and returns the digest of its manifest, by which a registry knows it. */
export async function writeImage(file: string, settings: ImageSettings, layers: readonly Layer[]): Promise<string> {
  const config = jsonBlob(configOf(settings, layers));
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config: descriptor(MEDIA_TYPES.config, config),
    layers: layers.map(({ digest, bytes }) => descriptor(MEDIA_TYPES.layer, { digest, size: bytes })),
    annotations: settings.labels,
  });
  const reference = `${settings.name}:${settings.version}`;
  const index = {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.index,
    manifests: [
      {
        ...descriptor(MEDIA_TYPES.manifest, manifest),
        platform: { architecture: settings.architecture, os: "linux" },
        annotations: { "org.opencontainers.image.ref.name": settings.version, "io.containerd.image.name": reference },
      },
    ],
  };
  const forDocker = [
    { Config: blobPath(config.digest), RepoTags: [reference], Layers: layers.map(({ digest }) => blobPath(digest)) },
  ];
  await writeTar(file, [
    text("oci-layout", JSON.stringify({ imageLayoutVersion: "1.0.0" })),
    text("index.json", JSON.stringify(index)),
    text("manifest.json", JSON.stringify(forDocker)),
    config.entry,
    manifest.entry,
    ...layers.map((layer) => fileFrom(blobPath(layer.digest), layer.file)),
  ]);
  return manifest.digest;
}

function configOf(settings: ImageSettings, layers: readonly Layer[]): object {
  const { healthCheck } = settings;
  return {
    created: settings.madeAt.toISOString(),
    architecture: settings.architecture,
    os: "linux",
    config: {
      User: settings.user,
      WorkingDir: settings.folder,
      Env: Object.entries(settings.environment).map(([name, value]) => `${name}=${value}`),
      Entrypoint: settings.entryPoint,
      Cmd: settings.command,
      ExposedPorts: emptyObjects(settings.ports),
      Volumes: emptyObjects(settings.volumes),
      Labels: settings.labels,
      StopSignal: "SIGTERM",
      ...(healthCheck && {
        Healthcheck: {
          Test: ["CMD", ...healthCheck],
          ...Object.fromEntries(Object.entries(HEALTH_SECONDS).map(([name, value]) => [name, value * NANOSECONDS])),
          Retries: HEALTH_RETRIES,
        },
      }),
    },
    rootfs: { type: "layers", diff_ids: layers.map(({ contentDigest }) => contentDigest) },
    history: layers.map(() => ({ created: settings.madeAt.toISOString(), created_by: "berth images" })),
  };
}

function emptyObjects(names: readonly string[]): Readonly<Record<string, object>> {
  return Object.fromEntries(names.map((name) => [name, {}]));
}

function jsonBlob(value: object): Blob {
  const content = Buffer.from(JSON.stringify(value));
  const digest = `sha256:${createHash("sha256").update(content).digest("hex")}`;
  return { digest, size: content.length, entry: text(blobPath(digest), content.toString("utf8")) };
}

function descriptor(mediaType: string, { digest, size }: Pick<Blob, "digest" | "size">): object {
  return { mediaType, digest, size };
}

function blobPath(digest: string): string {
  return `blobs/${digest.replace(":", "/")}`;
}
