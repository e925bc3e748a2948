// The contents of the images of the server and of the agent, and what their containers run.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import manifest from "../../package.json" with { type: "json" };
import type { ImageSettings } from "./archive.ts";
import { importedBy, moduleEntries, sourcesIn } from "./modules.ts";
import { fileFrom, folder, folderFrom, link, program, text, type Entry, type Owner } from "./tree.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
/** The folder of Berth in an image. */
const TOP = "opt/berth";
const NODE = `/${TOP}/bin/node`;
const NODE_FLAGS = ["--disable-warning=ExperimentalWarning"];
/** The user of the server: a number, so that Kubernetes can see that it is not root. */
const SERVER_USER: Owner = { uid: 10_001, gid: 10_001 };
const SERVER_DATA = "/var/lib/berth";
const AGENT_STATE = "/var/lib/berth-agent";
/** Fonts of invoices, which are found by name when the first is made. */
const FONTS = ["@fontsource/dejavu-sans", "@fontsource/unifont"];
const SERVER_FOLDERS = ["server/src", "protocol", "tunnel", "cli/src", "sdk/src"];
const AGENT_FOLDERS = ["agent/src", "protocol", "tunnel"];
const C_LIBRARIES = ["libc6", "libstdc++6", "libgcc-s1"];
/** Programs that the agent calls, and those that it gives to containers. */
const AGENT_PROGRAMS = [
  "bash",
  "busybox-static",
  "ca-certificates",
  "coreutils",
  "dash",
  "e2fsprogs",
  "iptables",
  "libc-bin",
  "mount",
  "openssh-sftp-server",
  "rclone",
  "rsync",
  "tini",
  "util-linux",
];
/** Asked for by scripts of packages, which do not run here, and by programs that nothing here calls. */
const WITHOUT =
  /^(?:adduser|debconf|debianutils|dpkg|init-system-helpers|krb5-.*|lib(?:.+-perl|cbor|db5|edit|fido2|gdbm|gssapi|k5crypto|krb5|pam|perl|semanage|sepol).*|logsave|lsb-base|mawk|netbase|openssh-client|openssl|original-awk|passwd|perl.*|sysvinit-utils|tar|usrmerge|util-linux-extra)$/;

export const ROOMS = ["server", "agent"] as const;
export type Room = (typeof ROOMS)[number];

export type Contents = {
  readonly debianPackages: readonly string[];
  readonly withoutPackages: RegExp;
  /** The layers above Debian's files, from what changes least to what changes most. */
  layers(): readonly (readonly Entry[])[];
  readonly settings: ImageSettings;
};

export function contentsOf(room: Room): Contents {
  return room === "server" ? serverContents() : agentContents();
}

function serverContents(): Contents {
  const sources = sourcesIn(SERVER_FOLDERS);
  return {
    debianPackages: [...C_LIBRARIES, "base-files"],
    withoutPackages: WITHOUT,
    layers: () => [
      [...nodeEntries(), ...accounts(), folder(SERVER_DATA.slice(1), 0o700, SERVER_USER)],
      moduleEntries(TOP, [...importedBy(sources), ...FONTS]),
      [
        ...sources.map(ownEntry),
        ...["LICENSE", "package.json", "cli/package.json", "sdk/package.json", "cli/help.txt"].map(ownFile),
        ...folderFrom(`${TOP}/server/migrations`, path.join(ROOT, "server/migrations"), () => true),
        ...consoleEntries(),
        text(`${TOP}/bin/healthy.mjs`, HEALTH_PROGRAM),
        program(`${TOP}/bin/berth`, COMMAND),
      ],
    ],
    settings: {
      ...common("server"),
      user: `${SERVER_USER.uid}:${SERVER_USER.gid}`,
      folder: SERVER_DATA,
      environment: {
        PATH: `/${TOP}/bin:/usr/local/bin:/usr/bin:/bin`,
        HOME: SERVER_DATA,
        NODE_ENV: "production",
        NODE_COMPILE_CACHE: `${SERVER_DATA}/compiled`,
        BERTH_DATA_DIR: SERVER_DATA,
        BERTH_HOST: "0.0.0.0",
        BERTH_PORT: "8080",
      },
      entryPoint: [NODE, ...NODE_FLAGS, `/${TOP}/cli/src/main.ts`],
      command: ["up", "--no-agent"],
      ports: ["8080/tcp"],
      volumes: [SERVER_DATA],
      healthCheck: [NODE, `/${TOP}/bin/healthy.mjs`],
    },
  };
}

function agentContents(): Contents {
  const sources = sourcesIn(AGENT_FOLDERS);
  return {
    debianPackages: [...C_LIBRARIES, "base-files", ...AGENT_PROGRAMS],
    withoutPackages: WITHOUT,
    layers: () => [
      [...nodeEntries(), ...accounts(), ...agentLinks(), folder(AGENT_STATE.slice(1), 0o700)],
      moduleEntries(TOP, importedBy(sources)),
      [...sources.map(ownEntry), ...["LICENSE", "package.json"].map(ownFile)],
    ],
    settings: {
      ...common("agent"),
      // It mounts disks, makes networks and writes firewall rules.
      user: "0:0",
      folder: "/",
      environment: {
        PATH: `/${TOP}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
        HOME: "/root",
        NODE_ENV: "production",
        MALLOC_ARENA_MAX: "1",
        BERTH_AGENT_STATE_DIR: AGENT_STATE,
        BERTH_AGENT_NO_INSTALL: "1",
      },
      entryPoint: [NODE, ...NODE_FLAGS, "--max-semi-space-size=1", "--v8-pool-size=1", `/${TOP}/agent/src/main.ts`],
      command: [],
      ports: [],
      volumes: [],
    },
  };
}

/** The command, as people call it in a container that has no shell: `docker exec NAME berth …`. */
const COMMAND = `#!${NODE} ${NODE_FLAGS.join(" ")}
import "../cli/src/main.ts";
`;

/** The program of the health check: the process answers. Whether it can serve is the question of `/readyz`. */
const HEALTH_PROGRAM = `const port = process.env.BERTH_PORT || "8080";
const answer = await fetch(\`http://127.0.0.1:\${port}/healthz\`).catch(() => undefined);
process.exitCode = answer?.ok === true ? 0 : 1;
`;

function common(room: Room): Pick<ImageSettings, "name" | "version" | "madeAt" | "architecture" | "labels"> {
  const labels = "org.opencontainers.image";
  return {
    name: `berth-${room}`,
    version: manifest.version,
    madeAt: readMadeAt(process.env["SOURCE_DATE_EPOCH"]),
    architecture: process.arch === "arm64" ? "arm64" : "amd64",
    labels: {
      [`${labels}.title`]: `Berth ${room}`,
      [`${labels}.description`]:
        room === "server" ? manifest.description : "The agent that offers a machine to a Berth server",
      [`${labels}.version`]: manifest.version,
      [`${labels}.licenses`]: manifest.license,
      ...revisionLabel(`${labels}.revision`),
    },
  };
}

/** The time of the last commit unless one is given, so that a second build of the same sources names the same. */
function readMadeAt(given: string | undefined): Date {
  const seconds = given ?? git("log", "-1", "--format=%ct") ?? "0";
  if (!/^\d{1,12}$/.test(seconds)) throw new Error(`SOURCE_DATE_EPOCH is a number of seconds; it is ${seconds}`);
  return new Date(Number(seconds) * 1000);
}

function revisionLabel(name: string): Readonly<Record<string, string>> {
  const commit = git("rev-parse", "HEAD");
  return commit === undefined ? {} : { [name]: git("status", "--porcelain") === "" ? commit : `${commit}-changed` };
}

/** The answer of git about the repository; undefined where this is no checkout, or git is not installed. */
function git(...args: readonly string[]): string | undefined {
  if (!existsSync(path.join(ROOT, ".git"))) return undefined;
  try {
    return execFileSync("git", [...args], { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return undefined;
  }
}

function nodeEntries(): readonly Entry[] {
  const runtime = path.join(ROOT, `node_modules/node-linux-${process.arch}`);
  return [fileFrom(`${TOP}/bin/node`, path.join(runtime, "bin/node"))];
}

function accounts(): readonly Entry[] {
  const { uid, gid } = SERVER_USER;
  const nobody = 65_534;
  return [
    text(
      "etc/passwd",
      `root:x:0:0:root:/root:/sbin/nologin\nberth:x:${uid}:${gid}:Berth:${SERVER_DATA}:/sbin/nologin\nnobody:x:${nobody}:${nobody}:nobody:/:/sbin/nologin\n`,
    ),
    text("etc/group", `root:x:0:\nberth:x:${gid}:\nnogroup:x:${nobody}:\n`),
    text("etc/nsswitch.conf", "hosts: files dns\n"),
    folder("root", 0o700),
    folder("tmp", 0o1777),
    ...["dev", "proc", "run", "sys", "var/tmp"].map((place) => folder(place)),
  ];
}

/** Links that scripts of Debian's packages make. */
function agentLinks(): readonly Entry[] {
  const tables = ["iptables", "ip6tables"].flatMap((name) => [name, `${name}-save`, `${name}-restore`]);
  return [link("bin/sh", "dash"), ...tables.map((name) => link(`usr/sbin/${name}`, "xtables-nft-multi"))];
}

function consoleEntries(): readonly Entry[] {
  const built = path.join(ROOT, "console/dist");
  if (!existsSync(path.join(built, "index.html"))) throw new Error("the console is not built: node console/build.ts");
  return folderFrom(`${TOP}/console/dist`, built, (inner) => inner !== "build.json");
}

function ownEntry(source: string): Entry {
  return fileFrom(path.join(TOP, path.relative(ROOT, source)), source);
}

function ownFile(name: string): Entry {
  return fileFrom(path.join(TOP, name), path.join(ROOT, name));
}
