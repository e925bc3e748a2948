import { Button, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { machineCreateBids } from "../../../../sdk/src/index.ts";
import { useAction } from "../../api/action.ts";
import classes from "../../pages/host/host.module.css";
import { AsCommand } from "../../parts/AsCommand.tsx";
import { Failure } from "../../parts/Failure.tsx";

type Props = {
  readonly machine: number;
  readonly image: string;
  readonly args: readonly string[];
  readonly onDone: () => void;
};

/** Sets the job that runs on idle GPUs of a machine. */
export function DefaultJobForm({ machine, image: startImage, args: startArgs, onDone }: Props) {
  const [image, setImage] = useState(startImage);
  const [text, setText] = useState(startArgs.join("\n"));
  const save = useAction(machineCreateBids, { changes: ["machine", "instance"], onDone });
  const args = text.split("\n").filter((line) => line !== "");
  const body = { machine, image: image.trim(), ...(args.length === 0 ? {} : { args }) };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate({ body });
  };
  return (
    <form onSubmit={submit} className={classes["form"]}>
      <p className="dim">
        One container with 8 GB of disk runs on each idle GPU, free of charge. It comes after every bid and stops
        without notice when somebody rents; its data stays.
      </p>
      <TextInput
        label="Image"
        value={image}
        onChange={(event) => setImage(event.currentTarget.value)}
        placeholder="owner/image:tag"
        required
      />
      <Textarea
        label="Arguments"
        description="One a line."
        autosize
        minRows={3}
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {save.error !== null && <Failure error={save.error} />}
      <div className={classes["buttons"]}>
        <Button type="submit" variant="filled" loading={save.isPending}>
          Run it on idle GPUs
        </Button>
        <AsCommand request={{ method: "PUT", path: "/api/v0/machines/create_bids/", body }} />
      </div>
    </form>
  );
}
