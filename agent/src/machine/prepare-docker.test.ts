import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ManualClock } from "../../test/manual-clock.ts";
import { isStatic, prepareDocker, type Machine } from "./prepare-docker.ts";

/** A machine on which an engine answers as soon as it is installed and started. */
function pretend(state: {
  docker: boolean;
  root: boolean;
  sudo: boolean;
  apt: boolean;
  systemd: boolean;
  missing?: readonly string[];
  isUp?: boolean;
}) {
  const commands: string[] = [];
  let installed = state.docker;
  let isUp = state.isUp ?? false;
  const machine: Machine = {
    doesAnswer: () => Promise.resolve(isUp),
    isFound: (program) =>
      program === "dockerd" ? installed : program === "sudo" ? state.sudo : program === "apt-get" ? state.apt : true,
    hasTool: (tool) => !(state.missing ?? []).includes(tool.package),
    isRoot: () => state.root,
    hasSystemd: () => state.systemd,
    run: (program, args) => {
      const words = [program, ...args].join(" ");
      commands.push(words);
      if (words.includes("apt-get install")) installed = true;
      if (words.includes("systemctl start")) isUp = true;
      return Promise.resolve(0);
    },
    spawnDetached: (program, args) => {
      commands.push([program, ...args].join(" "));
      isUp = true;
    },
  };
  return { machine, commands };
}

const usual = { docker: false, root: true, sudo: false, apt: true, systemd: false };

async function prepare(machine: Machine, mayInstall = true) {
  const lines: string[] = [];
  const preparation = await prepareDocker({
    machine,
    clock: new ManualClock(),
    mayInstall,
    tell: (line) => lines.push(line),
  });
  return { preparation, lines };
}

describe("preparing Docker", () => {
  it("root installs and starts what is missing and says so", async () => {
    const { machine, commands } = pretend(usual);
    const { preparation, lines } = await prepare(machine);
    assert.ok(preparation.ok);
    assert.ok(commands.some((one) => one.includes("apt-get install")) && commands.includes("dockerd"));
    assert.equal(lines.length, 3);
  });

  it("an installed engine is only started, by systemd where it runs, with sudo where needed", async () => {
    const { machine, commands } = pretend({ ...usual, docker: true, root: false, sudo: true, systemd: true });
    assert.ok((await prepare(machine)).preparation.ok);
    assert.deepEqual(commands, ["sudo -n true", "sudo -n systemctl start docker"]);
  });

  const bare = { ...usual, docker: true, isUp: true, missing: ["rsync", "busybox-static"] };

  it("tools that are missing beside an engine that answers are installed, and said so in one line", async () => {
    const { machine, commands } = pretend(bare);
    const { preparation, lines } = await prepare(machine);
    assert.ok(preparation.ok);
    assert.match(commands.at(-1) ?? "", /apt-get install .* busybox-static rsync$/);
    assert.equal(lines.length, 1);
  });

  it("an engine that is only to be started gets its tools, too", async () => {
    const { machine, commands } = pretend({ ...bare, isUp: false });
    assert.ok((await prepare(machine)).preparation.ok);
    assert.ok(commands.some((one) => one.includes("apt-get install")) && commands.includes("dockerd"));
  });

  for (const [what, state, mayInstall] of [
    ["without root and sudo", { ...bare, root: false }, true],
    ["without apt-get", { ...bare, apt: false }, true],
    ["when told not to", bare, false],
  ] as const) {
    it(`${what} missing tools are named, nothing is changed, and the host serves with what it has`, async () => {
      const { machine, commands } = pretend(state);
      const { preparation, lines } = await prepare(machine, mayInstall);
      assert.ok(preparation.ok);
      assert.deepEqual(commands, []);
      assert.match(lines.join("\n"), /^missing beside Docker Engine: busybox-static rsync;.*$/);
    });
  }

  it("a program counts as static only when it names no loader", () => {
    assert.ok(!isStatic(process.execPath), "Node needs the system's libraries");
    assert.ok(!isStatic(import.meta.filename), "a text is no program");
  });

  for (const [what, state, mayInstall] of [
    ["without root and sudo", { ...usual, root: false }, true],
    ["without apt-get", { ...usual, apt: false }, true],
    ["when told not to", usual, false],
  ] as const) {
    it(`${what} it changes nothing and says in one line what is missing`, async () => {
      const { machine, commands } = pretend(state);
      const { preparation } = await prepare(machine, mayInstall);
      assert.ok(!preparation.ok && preparation.problem.includes("Docker Engine is not installed"));
      assert.ok(!preparation.problem.includes("\n"));
      assert.deepEqual(commands, []);
    });
  }
});
