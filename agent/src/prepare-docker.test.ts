import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ManualClock } from "../test/manual-clock.ts";
import { prepareDocker, type Machine } from "./prepare-docker.ts";

/** A machine on which an engine answers as soon as it is installed and started. */
function pretend(state: { docker: boolean; root: boolean; sudo: boolean; apt: boolean; systemd: boolean }) {
  const commands: string[] = [];
  let installed = state.docker;
  let isUp = false;
  const machine: Machine = {
    doesAnswer: () => Promise.resolve(isUp),
    isFound: (program) =>
      program === "dockerd" ? installed : program === "sudo" ? state.sudo : program === "apt-get" ? state.apt : true,
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

async function prepare(machine: Machine, may_install = true) {
  const lines: string[] = [];
  const preparation = await prepareDocker({
    machine,
    clock: new ManualClock(),
    may_install,
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

  for (const [what, state, may_install] of [
    ["without root and sudo", { ...usual, root: false }, true],
    ["without apt-get", { ...usual, apt: false }, true],
    ["when told not to", usual, false],
  ] as const) {
    it(`${what} it changes nothing and says in one line what is missing`, async () => {
      const { machine, commands } = pretend(state);
      const { preparation } = await prepare(machine, may_install);
      assert.ok(!preparation.ok && preparation.problem.includes("Docker Engine is not installed"));
      assert.ok(!preparation.problem.includes("\n"));
      assert.deepEqual(commands, []);
    });
  }
});
