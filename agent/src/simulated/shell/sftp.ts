import { posix } from "node:path";
import ssh2, { type Attributes, type SFTPWrapper } from "ssh2";
import type { Entry, Problem, SimulatedFiles } from "./file-system.ts";

const { STATUS_CODE, OPEN_MODE } = ssh2.utils.sftp;
const FOLDER_BITS = 0o040000;
const FILE_BITS = 0o100000;
const NAMES_PER_ANSWER = 100;

const CODES = {
  missing: STATUS_CODE.NO_SUCH_FILE,
  exists: STATUS_CODE.FAILURE,
  "not a folder": STATUS_CODE.FAILURE,
  "not a file": STATUS_CODE.FAILURE,
  "not empty": STATUS_CODE.FAILURE,
  full: STATUS_CODE.FAILURE,
} as const satisfies Record<Problem, number>;

/** Words of OpenSSH's server, so that clients read them alike. */
const WORDS: Readonly<Record<Problem, string>> = {
  missing: "No such file",
  exists: "Failure",
  "not a folder": "Failure",
  "not a file": "Failure",
  "not empty": "Failure",
  full: "No space left on device",
};

type Handle = { readonly path: string; names: readonly string[] | undefined };

/** Serves the invented disk of a simulated instance over SFTP. */
export function serveSftp(sftp: SFTPWrapper, files: SimulatedFiles): void {
  const handles = new Map<number, Handle>();
  let lastHandle = 0;
  const open = (path: string, names: readonly string[] | undefined): Buffer => {
    lastHandle += 1;
    handles.set(lastHandle, { path, names });
    const handle = Buffer.alloc(4);
    handle.writeUInt32BE(lastHandle);
    return handle;
  };
  const handleOf = (handle: Buffer) => (handle.length === 4 ? handles.get(handle.readUInt32BE(0)) : undefined);
  const answer = (id: number, problem: Problem | undefined) =>
    problem === undefined ? sftp.status(id, STATUS_CODE.OK) : sftp.status(id, CODES[problem], WORDS[problem]);
  const show = (id: number, path: string) => {
    const entry = files.find(path);
    if (entry === undefined) answer(id, "missing");
    else sftp.attrs(id, attributesOf(entry));
  };

  sftp.on("REALPATH", (id, path) => {
    const filename = posix.resolve("/root", path);
    sftp.name(id, [{ filename, longname: filename, attrs: attributesOf(files.find(filename)) }]);
  });
  sftp.on("STAT", show);
  sftp.on("LSTAT", show);
  sftp.on("FSTAT", (id, handle) => show(id, handleOf(handle)?.path ?? ""));
  sftp.on("SETSTAT", (id) => answer(id, undefined));
  sftp.on("FSETSTAT", (id) => answer(id, undefined));
  sftp.on("READLINK", (id) => answer(id, "missing"));
  sftp.on("MKDIR", (id, path) => answer(id, files.makeFolder(path)));
  sftp.on("RMDIR", (id, path) => answer(id, files.remove(path, "folder")));
  sftp.on("REMOVE", (id, path) => answer(id, files.remove(path, "file")));
  sftp.on("RENAME", (id, from, to) => answer(id, files.rename(from, to)));
  sftp.on("CLOSE", (id, handle) => {
    if (handle.length === 4) handles.delete(handle.readUInt32BE(0));
    answer(id, undefined);
  });
  sftp.on("OPENDIR", (id, path) => {
    const entry = files.find(path);
    if (entry?.kind !== "folder") return answer(id, entry === undefined ? "missing" : "not a folder");
    sftp.handle(id, open(path, files.list(path)));
  });
  sftp.on("READDIR", (id, handle) => {
    const opened = handleOf(handle);
    const names = opened?.names ?? [];
    if (opened === undefined || names.length === 0) return sftp.status(id, STATUS_CODE.EOF);
    opened.names = names.slice(NAMES_PER_ANSWER);
    sftp.name(
      id,
      names.slice(0, NAMES_PER_ANSWER).map((filename) => ({
        filename,
        longname: filename,
        attrs: attributesOf(files.find(posix.join(opened.path, filename))),
      })),
    );
  });
  serveContents(sftp, files, { answer, open, handleOf });
}

type Means = {
  readonly answer: (id: number, problem: Problem | undefined) => void;
  readonly open: (path: string, names: readonly string[] | undefined) => Buffer;
  readonly handleOf: (handle: Buffer) => Handle | undefined;
};

function serveContents(sftp: SFTPWrapper, files: SimulatedFiles, { answer, open, handleOf }: Means): void {
  sftp.on("OPEN", (id, path, flags) => {
    const isWritten = (flags & OPEN_MODE.WRITE) !== 0;
    const entry = files.find(path);
    const isMade =
      isWritten && (entry === undefined || (flags & OPEN_MODE.TRUNC) !== 0 || (flags & OPEN_MODE.EXCL) !== 0);
    const problem = isMade
      ? files.create(path, { isExclusive: (flags & OPEN_MODE.EXCL) !== 0 })
      : entry === undefined
        ? "missing"
        : entry.kind === "folder"
          ? "not a file"
          : undefined;
    if (problem !== undefined) answer(id, problem);
    else sftp.handle(id, open(path, undefined));
  });
  sftp.on("READ", (id, handle, offset, length) => {
    const data = files.find(handleOf(handle)?.path ?? "")?.data;
    if (data === undefined) return answer(id, "missing");
    if (offset >= data.length) return sftp.status(id, STATUS_CODE.EOF);
    sftp.data(id, data.subarray(offset, offset + length));
  });
  sftp.on("WRITE", (id, handle, offset, data) => answer(id, files.write(handleOf(handle)?.path ?? "", data, offset)));
}

function attributesOf(entry: Entry | undefined): Attributes {
  const bits = entry?.kind === "folder" ? FOLDER_BITS : FILE_BITS;
  const at = entry?.mtimeSeconds ?? 0;
  return { mode: bits | (entry?.mode ?? 0), uid: 0, gid: 0, size: entry?.data.length ?? 0, atime: at, mtime: at };
}
