import { Button, NativeSelect, PasswordInput, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { cloudConnect } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";
import classes from "./cloud.module.css";

type Provider = "s3" | "b2" | "hf";
type Field = {
  readonly name: string;
  readonly label: string;
  readonly isSecret?: true;
  readonly isOptional?: true;
  readonly hint?: string;
};

const SECRET = { name: "secret_access_key", label: "Secret access key", isSecret: true } as const;
const FIELDS: Readonly<Record<Provider, readonly Field[]>> = {
  s3: [
    { name: "access_key", label: "Access key" },
    SECRET,
    { name: "endpoint", label: "Endpoint", isOptional: true, hint: "https://… of a storage that is not AWS" },
    { name: "region", label: "Region", isOptional: true, hint: "such as eu-central-1" },
  ],
  b2: [
    { name: "key_id", label: "Key id" },
    { name: "application_key", label: "Application key", isSecret: true },
  ],
  hf: [
    { name: "access_key", label: "Access key", hint: "It begins with HFAK" },
    SECRET,
    { name: "namespace", label: "Namespace", hint: "The user or organisation that has the buckets" },
  ],
};
const PROVIDERS = [
  { value: "s3", label: "S3, or a storage that speaks its language" },
  { value: "b2", label: "Backblaze B2" },
  { value: "hf", label: "Hugging Face buckets" },
] as const;

function providerOf(text: string): Provider {
  return PROVIDERS.find(({ value }) => value === text)?.value ?? "s3";
}

/** Stores the keys of a cloud storage, which are never shown again. */
export function CloudConnect({ onDone }: { readonly onDone: () => void }) {
  const [provider, setProvider] = useState<Provider>("s3");
  const [name, setName] = useState("");
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const connect = useAction(cloudConnect, { changes: ["cloud"], onDone });
  const fields = FIELDS[provider];
  const given = fields.map((field) => [field.name, (values[field.name] ?? "").trim()] as const);
  const body = {
    provider,
    user_given_name: name.trim(),
    ...Object.fromEntries(given.filter(([, text]) => text !== "")),
  };
  const secrets = Object.fromEntries(fields.filter(({ isSecret }) => isSecret).map((field) => [field.name, "…"]));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    connect.mutate({ body });
  };
  return (
    <form onSubmit={submit} className={classes["form"]}>
      <p className={classes["warning"]}>
        A host gets these keys for each copy, and its operator can read them. Use keys that open one bucket only.
      </p>
      <NativeSelect
        label="Storage"
        description="Google Drive and Dropbox ask for consent in a browser, so they cannot be connected."
        data={[...PROVIDERS]}
        value={provider}
        onChange={(event) => setProvider(providerOf(event.currentTarget.value))}
      />
      <TextInput
        label="Name"
        placeholder="backups"
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        required
      />
      {fields.map((field) => {
        const Input = field.isSecret === true ? PasswordInput : TextInput;
        return (
          <Input
            key={`${provider} ${field.name}`}
            label={field.label}
            description={field.hint}
            autoComplete="off"
            value={values[field.name] ?? ""}
            onChange={(event) => {
              const text = event.currentTarget.value;
              setValues((before) => ({ ...before, [field.name]: text }));
            }}
            required={field.isOptional !== true}
          />
        );
      })}
      {connect.error !== null && <Failure error={connect.error} onRetry={() => connect.mutate({ body })} />}
      <div className={classes["buttons"]}>
        <Button type="submit" loading={connect.isPending}>
          Connect
        </Button>
        <AsCommand request={{ method: "POST", path: "/api/v0/users/cloud/", body: { ...body, ...secrets } }} />
      </div>
    </form>
  );
}
