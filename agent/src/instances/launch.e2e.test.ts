import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { busyboxImage, docker, ensureDocker } from "../../../test/support/hosts/docker.ts";
import { until } from "../../../test/support/until.ts";
import type { LaunchCommand } from "../wire/messages.ts";
import { launchOf } from "./launch.ts";

const LABEL = `berth.test.launch=${randomUUID()}`;
/** Says how it was started and ends when told to. */
const FAKE_JUPYTER = `#!/bin/sh
echo "jupyter $* token=$JUPYTER_TOKEN in=$PWD root=$JUPYTER_SERVER_ROOT"
until [ -e /tmp/crash ]; do sleep 0.1; done
rm /tmp/crash
exit 3
`;

describe("the platform script in a real container", () => {
  let image: string;
  let folder: string;

  const run = async (command: LaunchCommand, options: readonly string[] = []): Promise<string> => {
    const [program = "", ...rest] = launchOf(command).entrypoint ?? [];
    return docker("run", "-d", "--init", "--label", LABEL, ...options, "--entrypoint", program, image, ...rest);
  };
  const shell = (changes: Partial<LaunchCommand & { mode: "shell" }> = {}): LaunchCommand => ({
    mode: "shell",
    onstart: null,
    jupyter: null,
    ...changes,
  });
  const logs = (id: string) =>
    new Promise<string>((resolve) =>
      execFile("docker", ["logs", id], (_error, stdout, stderr) => resolve(`${stdout}${stderr}`)),
    );
  const untilLogged = (id: string, pattern: RegExp) =>
    until(`${pattern} in the log`, async () => {
      const text = await logs(id);
      return pattern.test(text) ? text : undefined;
    });

  before(async () => {
    await ensureDocker();
    image = await busyboxImage();
    folder = await mkdtemp(join(tmpdir(), "berth-launch-"));
    await writeFile(join(folder, "jupyter"), FAKE_JUPYTER);
    await chmod(join(folder, "jupyter"), 0o755);
    await writeFile(join(folder, "instance.crt"), "certificate");
    await writeFile(join(folder, "instance.key"), "key");
  });
  after(async () => {
    const ids = (await docker("ps", "-aq", "--filter", `label=${LABEL}`)).split("\n").filter((id) => id !== "");
    if (ids.length > 0) await docker("rm", "-f", "-v", ...ids);
    await rm(folder, { recursive: true });
  });

  const withJupyter = () => ["-v", `${folder}/jupyter:/usr/local/bin/jupyter:ro`];

  it("starts the notebook server with its token in its directory, and again when it ends", async () => {
    const jupyter = { token: "s3cret 'x'", directory: "/srv/deep", isLab: true };
    const id = await run(shell({ jupyter, onstart: "echo onstart ran" }), withJupyter());
    const text = await untilLogged(id, /token=s3cret/);
    assert.match(
      text,
      /jupyter lab --allow-root --no-browser --ip=0.0.0.0 --port=8080 --port-retries=0 token=s3cret 'x' in=\/srv\/deep/,
    );
    await untilLogged(id, /onstart ran/);
    assert.equal(await docker("exec", id, "cat", "/.launch"), "shell jupyter");
    await docker("exec", id, "touch", "/tmp/crash");
    const again = await untilLogged(id, /token=s3cret[^]*token=s3cret/);
    assert.match(again, /it ended with code 3; it starts again/);
  });

  it("serves HTTPS when the host gave it a certificate, and a classic notebook in the image's own directory", async () => {
    const certificates = ["instance.crt", "instance.key"].flatMap((name) => [
      "-v",
      `${folder}/${name}:/etc/${name}:ro`,
    ]);
    const jupyter = { token: "t", directory: null, isLab: false };
    const id = await run(shell({ jupyter }), [...withJupyter(), ...certificates, "-w", "/srv"]);
    const text = await untilLogged(id, /token=t /);
    assert.match(text, /^jupyter notebook .* --certfile=\/etc\/instance.crt --keyfile=\/etc\/instance.key /m);
    assert.match(text, /in=\/srv root=\/srv$/m);
  });

  it("says how to get Jupyter when the image has none, runs on, and ends at once when told to", async () => {
    const jupyter = { token: "t", directory: null, isLab: false };
    const id = await run(shell({ jupyter, onstart: "echo still here" }));
    // Beside each other, so that either may be the first.
    await untilLogged(id, /still here/);
    await untilLogged(id, /this image has no Jupyter\. Install jupyterlab or notebook in it/);
    await docker("stop", "-t", "60", id);
    assert.equal(await docker("inspect", "--format", "{{.State.ExitCode}}", id), "143");
  });

  it("makes do with an image that has a shell and nothing else", async () => {
    const toolbox = ["-v", "/bin/busybox:/.berth/busybox:ro"];
    const bare = ["-e", "PATH=/nowhere", "-e", "DATA_DIRECTORY=/data/set/"];
    const id = await run(shell({ onstart: "echo bare" }), [...toolbox, ...bare]);
    await untilLogged(id, /bare/);
    assert.match(await docker("exec", id, "/bin/cat", "/etc/passwd"), /^root:/m);
    await docker("exec", id, "/bin/ls", "-d", "/root", "/data/set");
  });
});
