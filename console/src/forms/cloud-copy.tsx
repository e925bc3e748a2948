import { Button, Checkbox, NativeSelect, SegmentedControl, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { cloudCopy, scheduleCreate, type CloudConnection } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";
import classes from "./cloud.module.css";

const COPIES = "/api/v0/commands/rclone/";
const SCHEDULES = "/api/v0/commands/schedule_job/";

type Props = {
  readonly connection: CloudConnection;
  /** Instances to choose from, by id, with their labels. */
  readonly instances: readonly { readonly id: number; readonly label: string }[];
  readonly onDone: () => void;
};

/** Copies between an instance and a cloud storage, now or each night. */
export function CloudCopy({ connection, instances, onDone }: Props) {
  const [isUpload, setUpload] = useState(true);
  const [instanceId, setInstance] = useState(String(instances[0]?.id ?? ""));
  const [here, setHere] = useState("/workspace");
  const [there, setThere] = useState("");
  const [isDry, setDry] = useState(false);
  const [repeats, setRepeats] = useState(false);
  const copy = useAction(cloudCopy, { changes: ["instance"], onDone });
  const schedule = useAction(scheduleCreate, { changes: ["schedule"], onDone });
  const isScheduled = repeats && isUpload;
  const body = {
    instance_id: instanceId,
    selected: String(connection.id),
    transfer: isUpload ? "Instance To Cloud" : "Cloud To Instance",
    ...(isUpload ? { src: here, dst: there } : { src: there, dst: here }),
    flags: isDry ? ["--dry-run"] : [],
  };
  const job = {
    ...{ api_endpoint: COPIES, request_method: "POST" as const, request_body: body, frequency: "DAILY" as const },
    ...{ hour_of_the_day: 3, instance_id: Number(instanceId) },
  };
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (isScheduled) schedule.mutate({ body: job });
    else copy.mutate({ body });
  };
  const error = isScheduled ? schedule.error : copy.error;
  return (
    <form onSubmit={submit} className={classes["form"]}>
      <SegmentedControl
        aria-label="Direction"
        value={isUpload ? "up" : "down"}
        onChange={(way) => setUpload(way === "up")}
        data={[
          { value: "up", label: "Instance to storage" },
          { value: "down", label: "Storage to instance" },
        ]}
      />
      <NativeSelect
        label="Instance"
        data={instances.map(({ id, label }) => ({
          value: String(id),
          label: label === "" ? `${id}` : `${id}: ${label}`,
        }))}
        value={instanceId}
        onChange={(event) => setInstance(event.currentTarget.value)}
        required
      />
      <Paths isUpload={isUpload} here={here} there={there} onHere={setHere} onThere={setThere} />
      <Choose label="Dry run: only say what would be copied" isChosen={isDry} onChoose={setDry} />
      {isUpload && <Choose label="Repeat it daily at 03:00 UTC" isChosen={repeats} onChoose={setRepeats} />}
      {error !== null && <Failure error={error} onRetry={() => submit()} />}
      <div className={classes["buttons"]}>
        <Button type="submit" loading={copy.isPending || schedule.isPending} disabled={instances.length === 0}>
          {isScheduled ? "Schedule" : "Copy"}
        </Button>
        <AsCommand
          command={isScheduled ? undefined : commandOf({ isUpload, instanceId, here, there, isDry }, connection.id)}
          request={{ method: "POST", path: isScheduled ? SCHEDULES : COPIES, body: isScheduled ? job : body }}
        />
      </div>
    </form>
  );
}

type PathsProps = {
  readonly isUpload: boolean;
  readonly here: string;
  readonly there: string;
  readonly onHere: (path: string) => void;
  readonly onThere: (path: string) => void;
};

/** The paths of both ends of a copy. */
function Paths({ isUpload, here, there, onHere, onThere }: PathsProps) {
  return (
    <>
      <TextInput
        label={isUpload ? "Folder or file of the instance" : "Folder of the instance that gets the files"}
        value={here}
        onChange={(event) => onHere(event.currentTarget.value)}
        required
      />
      <TextInput
        label="Path in the storage"
        description="It begins with the name of a bucket that exists."
        placeholder="bucket/folder"
        value={there}
        onChange={(event) => onThere(event.currentTarget.value)}
        required
      />
    </>
  );
}

type ChooseProps = {
  readonly label: string;
  readonly isChosen: boolean;
  readonly onChoose: (isChosen: boolean) => void;
};

function Choose({ label, isChosen, onChoose }: ChooseProps) {
  return <Checkbox label={label} checked={isChosen} onChange={(event) => onChoose(event.currentTarget.checked)} />;
}

type Choice = {
  readonly isUpload: boolean;
  readonly instanceId: string;
  readonly here: string;
  readonly there: string;
  readonly isDry: boolean;
};

function commandOf({ isUpload, instanceId, here, there, isDry }: Choice, id: number): readonly string[] {
  const [place, cloud] = [`${instanceId}:${here}`, `${id}:${there || "bucket"}`];
  return [
    "cloud",
    isUpload ? "upload" : "download",
    ...(isUpload ? [place, cloud] : [cloud, place]),
    ...(isDry ? ["--dry-run"] : []),
  ];
}
