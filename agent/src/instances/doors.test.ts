import assert from "node:assert/strict";
import { test } from "node:test";
import { order } from "../../test/fixtures.ts";
import type { Door, SshService } from "../ssh/service.ts";
import { DoorKeeper } from "./doors.ts";
import { LABEL_INSTANCE, readIdentity, settledName, type OwnContainer } from "./identity.ts";

const KEY = "ssh-ed25519 AAAA me";

/** An SSH server that notes its doors. */
function aService() {
  const told: (readonly Door[])[] = [];
  const service: SshService = {
    expectDoor: () => undefined,
    setDoors: (doors) => void told.push(doors),
    hostKey: (instanceId) => `ssh-ed25519 ${instanceId}`,
    connectTunnel: () => undefined,
    close: () => undefined,
  };
  return { service, told };
}

function running(instanceId: number): OwnContainer {
  const own = readIdentity({
    ...{
      id: `container-${instanceId}`,
      name: settledName(instanceId, 1),
      labels: { [LABEL_INSTANCE]: String(instanceId) },
    },
    ...{ phase: "running", exitCode: null, startedAtMs: 1, finishedAtMs: null, ports: [], layerDirectory: null },
    network: { namespacePath: `/net/${instanceId}`, ipAddress: "172.18.0.2" },
  });
  assert.ok(own);
  return own;
}

test("keys for copies open a door for copies alone, which no later process takes for a shell's", () => {
  const { service, told } = aService();
  const doors = new DoorKeeper(service, undefined);
  doors.setOrders([
    order(7, { ssh: { authorizedKeys: [KEY] } }),
    order(8, { copies: { authorizedKeys: [KEY] } }),
    order(9),
  ]);
  const containers = [7, 8, 9].map(running);
  doors.open(containers);
  assert.deepEqual(
    told.at(-1)?.map(({ instanceId, isForCopies, authorizedKeys }) => [instanceId, isForCopies, authorizedKeys]),
    [
      [7, false, [KEY]],
      [8, true, [KEY]],
    ],
  );
  assert.deepEqual(doors.notes(), { 7: [KEY] });
  const next = aService();
  new DoorKeeper(next.service, doors.notes()).open(containers);
  assert.deepEqual(
    next.told.at(-1)?.map(({ instanceId }) => instanceId),
    [7],
    "until orders come",
  );
});
