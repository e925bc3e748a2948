import { Button, Checkbox, NativeSelect, NumberInput, PasswordInput, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import {
  templateCreate,
  templateEdit,
  templateParams,
  type CallOptions,
  type Client,
  type Template,
} from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import { askPlain } from "../api/query.ts";
import { ActionButton } from "../parts/ActionButton.tsx";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";
import { createBody, createCommand, firstFields, type TemplateBody, type TemplateFields } from "./template-fields.ts";
import classes from "./template.module.css";

type Props = {
  readonly kind: "create" | "edit" | "copy";
  /** The template that is edited or copied. */
  readonly template?: Template;
  readonly onDone: (made: Template) => void;
};
type Set = (changed: Partial<TemplateFields>) => void;

/** The form of a template. A copy belongs to the person and is private at first. */
export function TemplateEdit({ kind, template, onDone }: Props) {
  const [fields, setFields] = useState<TemplateFields>(() => firstFields(kind === "copy" ? "copy" : "edit", template));
  const set: Set = (changed) => setFields((before) => ({ ...before, ...changed }));
  const edited = kind === "edit" ? template : undefined;
  const save = useAction(store, { changes: ["template"], onDone });
  const body = createBody(fields, template);
  const submit = () => save.mutate({ hashId: edited?.hash_id, body });
  const reason =
    fields.name.trim() === "" ? "Give it a name." : fields.image.trim() === "" ? "Name its image." : undefined;
  return (
    <form
      className={classes["form"]}
      aria-label="Template"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === undefined) submit();
      }}
    >
      <Main fields={fields} set={set} />
      <Start fields={fields} set={set} />
      <Machine fields={fields} set={set} />
      <Registry fields={fields} set={set} isEdit={edited !== undefined} />
      {save.error !== null && <Failure error={save.error} onRetry={submit} />}
      <div className={classes["end"]}>
        <ActionButton variant="filled" onClick={submit} isBusy={save.isPending} reason={reason}>
          {edited === undefined ? "Create template" : "Save"}
        </ActionButton>
        <AsCommand
          {...(edited === undefined && !fields.isPublic ? { command: createCommand(fields) } : {})}
          request={{
            method: edited === undefined ? "POST" : "PUT",
            path: "/api/v0/template/",
            body: hidePassword(edited === undefined ? body : { hash_id: edited.hash_id, ...body }),
          }}
        />
      </div>
      {/* Enter in a field sends the form. */}
      <Button type="submit" display="none" aria-hidden="true" tabIndex={-1}>
        Send
      </Button>
    </form>
  );
}

type StoreInput = { readonly hashId: string | undefined; readonly body: TemplateBody };

async function store(client: Client, { hashId, body }: StoreInput, options?: CallOptions): Promise<Template> {
  const answer =
    hashId === undefined
      ? await templateCreate(client, { body }, options)
      : await templateEdit(client, { body: { ...body, hash_id: hashId } }, options);
  return answer.template;
}

function hidePassword<B extends { readonly docker_login_pass?: string }>(body: B): B {
  return body.docker_login_pass === undefined ? body : { ...body, docker_login_pass: "…" };
}

type PartProps = { readonly fields: TemplateFields; readonly set: Set };

function Main({ fields, set }: PartProps) {
  const limits = useQuery(askPlain("template.params", templateParams)).data?.limits;
  const limit = (field: string) => (limits?.[field] === undefined ? {} : { maxLength: limits[field] });
  return (
    <>
      <TextInput
        label="Name"
        required
        value={fields.name}
        {...limit("name")}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <TextInput
        label="Image"
        required
        description="With its tag: pytorch/pytorch:2.8.0-cuda12.8-cudnn9-runtime"
        spellCheck={false}
        value={fields.image}
        onChange={(event) => set({ image: event.currentTarget.value })}
      />
      <TextInput
        label="Description in a sentence"
        value={fields.desc}
        {...limit("desc")}
        onChange={(event) => set({ desc: event.currentTarget.value })}
      />
      <Textarea
        label="Readme"
        description="Markdown; HTML in it is shown as text"
        autosize
        minRows={3}
        maxRows={12}
        value={fields.readme}
        {...limit("readme")}
        onChange={(event) => set({ readme: event.currentTarget.value })}
      />
      <Checkbox
        label="Public: everybody finds it and can read all of it"
        checked={fields.isPublic}
        onChange={(event) => set({ isPublic: event.currentTarget.checked })}
      />
    </>
  );
}

function Start({ fields, set }: PartProps) {
  return (
    <Part title="Start">
      <NativeSelect
        label="What runs"
        value={fields.runtype}
        data={[
          { value: "ssh", label: "SSH, then the start script" },
          { value: "jupyter", label: "Jupyter and SSH, then the start script" },
          { value: "args", label: "The image's own entrypoint" },
        ]}
        onChange={(event) => set({ runtype: event.currentTarget.value })}
      />
      {fields.runtype === "args" ? (
        <TextInput
          label="Arguments of the entrypoint"
          spellCheck={false}
          value={fields.args}
          onChange={(event) => set({ args: event.currentTarget.value })}
        />
      ) : (
        <Checkbox
          label="Direct: on ports of the machine rather than through the proxy"
          checked={fields.isDirect}
          onChange={(event) => set({ isDirect: event.currentTarget.checked })}
        />
      )}
      <Textarea
        label="Variables and ports"
        description="-e NAME=value -p 8000:8000. Keep tokens in your secrets instead."
        autosize
        minRows={2}
        spellCheck={false}
        value={fields.env}
        onChange={(event) => set({ env: event.currentTarget.value })}
      />
      <Textarea
        label="Start script"
        description="Shell commands that run at each start"
        autosize
        minRows={2}
        maxRows={14}
        spellCheck={false}
        value={fields.onstart}
        onChange={(event) => set({ onstart: event.currentTarget.value })}
      />
    </Part>
  );
}

function Machine({ fields, set }: PartProps) {
  const amount = (value: string | number) => (typeof value === "number" ? value : undefined);
  return (
    <Part title="Machine">
      <div className={classes["row"]}>
        <NumberInput
          label="Disk in GB"
          min={1}
          value={fields.diskGb}
          onChange={(value) => set({ diskGb: amount(value) ?? 8 })}
        />
        <NumberInput
          label="CUDA at least"
          min={0}
          step={0.1}
          decimalScale={1}
          value={fields.cuda ?? ""}
          onChange={(value) => set({ cuda: amount(value) })}
        />
        <NumberInput
          label="GPU memory in GB at least"
          min={0}
          value={fields.gpuGb ?? ""}
          onChange={(value) => set({ gpuGb: amount(value) })}
        />
      </div>
    </Part>
  );
}

function Registry({ fields, set, isEdit }: PartProps & { readonly isEdit: boolean }) {
  return (
    <Part title="Login for a private registry">
      <TextInput
        label="Registry"
        placeholder="ghcr.io"
        spellCheck={false}
        value={fields.registry}
        onChange={(event) => set({ registry: event.currentTarget.value })}
      />
      <div className={classes["row"]}>
        <TextInput
          label="User"
          autoComplete="off"
          value={fields.registryUser}
          onChange={(event) => set({ registryUser: event.currentTarget.value })}
        />
        <PasswordInput
          label="Password or token"
          autoComplete="new-password"
          placeholder={isEdit ? "stays as it is" : ""}
          value={fields.registryPassword}
          onChange={(event) => set({ registryPassword: event.currentTarget.value })}
        />
      </div>
    </Part>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <fieldset className={classes["part"]}>
      <legend>{title}</legend>
      {children}
    </fieldset>
  );
}
