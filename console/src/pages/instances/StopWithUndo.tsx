import { Button } from "@mantine/core";
import { useEffect, useState } from "react";
import { instanceUpdate, type Instance } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import { later } from "../../clock.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { Failure } from "../../parts/Failure.tsx";
import { reasonOf } from "../../parts/reason.ts";
import classes from "./instances.module.css";

/** The time in which a stop can be taken back before it is sent. */
const UNDO_MS = 5_000;

/** A stop that is sent after some seconds, in which it can be taken back; leaving the page takes it back, too. */
export function StopWithUndo({ instance: { id, allowed_actions: allowed } }: { readonly instance: Instance }) {
  const [isStopping, setStopping] = useState(false);
  const stop = useAction(instanceUpdate, {
    changes: ["instance", "offer", "balance"],
    onDone: () => setStopping(false),
  });
  const { mutate } = stop;
  useEffect(() => {
    if (!isStopping) return undefined;
    return later(UNDO_MS, () => mutate({ id, body: { state: "stopped" } }));
  }, [id, isStopping, mutate]);
  if (isStopping && stop.error === null) {
    return (
      <div className={classes["undo"]} role="status">
        <span>Stopping…</span>
        {!stop.isPending && (
          <Button variant="default" size="compact-xs" onClick={() => setStopping(false)}>
            Undo
          </Button>
        )}
      </div>
    );
  }
  return (
    <>
      <ActionButton
        onClick={() => {
          stop.reset();
          setStopping(true);
        }}
        reason={reasonOf(allowed.stop)}
      >
        Stop
      </ActionButton>
      {stop.error !== null && <Failure error={stop.error} />}
    </>
  );
}
