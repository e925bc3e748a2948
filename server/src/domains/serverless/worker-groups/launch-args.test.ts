import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "../../../base/errors.ts";
import { readLaunchArgs } from "./launch-args.ts";

test("options of the published command line become members of a creation", () => {
  assert.deepEqual(
    readLaunchArgs(
      `--onstart 'sleep 1' --env '-e A="b c" -p 3000:3000' --image=ghcr.io/x/y:1 --disk 40.5 --direct --ssh`,
    ),
    {
      onstart: "sleep 1",
      env: '-e A="b c" -p 3000:3000',
      image: "ghcr.io/x/y:1",
      disk: 40.5,
      runtype: "ssh_direct",
    },
  );
  assert.deepEqual(readLaunchArgs("--jupyter --jupyter-lab --bid_price 0.2"), {
    use_jupyter_lab: true,
    price: 0.2,
    runtype: "jupyter_proxy",
  });
  assert.deepEqual(readLaunchArgs("  "), {});
});

test("everything after --args goes to the container, even options", () => {
  assert.deepEqual(readLaunchArgs("--disk 10 --args serve --image 'a b' -v"), {
    disk: 10,
    args: ["serve", "--image", "a b", "-v"],
  });
});

test("an option that does not fit an instance is refused by name", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["--gpu 4", "--gpu is not an option"],
    ["--image", "--image needs a value"],
    ["--disk large", "--disk needs a number"],
    ["image x", 'at "image"'],
    ["--ssh=yes", "--ssh takes no value"],
    ["--link-volume 7", "--link-volume cannot be used"],
    ["--vm --image x", "--vm cannot be used"],
    ["--template_hash abc", "--template-hash cannot be used"],
    ["--constructor x", "--constructor is not an option"],
    ["--label 'x", "launch_args"],
  ];
  for (const [text, expected] of cases) {
    assert.throws(
      () => readLaunchArgs(text),
      (error: unknown) => error instanceof AppError && error.publicMessage.includes(expected),
      text,
    );
  }
});
