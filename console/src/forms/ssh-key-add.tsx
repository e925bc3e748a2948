import { Button, Textarea, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { sshKeyCreate } from "../../../sdk/src/index.ts";
import { useAction } from "../api/action.ts";
import classes from "../pages/account/account.module.css";
import { AsCommand } from "../parts/AsCommand.tsx";
import { Failure } from "../parts/Failure.tsx";
import { saveFile } from "../parts/save-file.ts";
import { privateFile, publicLine } from "../text/openssh.ts";

const FILE_NAME = "berth_ed25519";

/** Adds the public half of a key that the person has. */
export function SshKeyPaste({ onDone }: { readonly onDone: () => void }) {
  const [text, setText] = useState("");
  const add = useAction(sshKeyCreate, { changes: ["key"], onDone });
  const isPrivate = text.includes("PRIVATE KEY");
  const body = { ssh_key: text.trim() };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isPrivate) add.mutate({ body });
  };
  return (
    <form onSubmit={submit} className={classes["wide"]}>
      <Textarea
        label="Public key"
        description="The content of a file such as ~/.ssh/id_ed25519.pub"
        placeholder="ssh-ed25519 AAAA… you@laptop"
        autosize
        minRows={4}
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        error={isPrivate && "This is a private key. Keep it, and paste the file that ends with .pub."}
        required
      />
      {add.error !== null && <Failure error={add.error} onRetry={() => add.mutate({ body })} />}
      <div className={classes["buttons"]}>
        <Button type="submit" loading={add.isPending} disabled={isPrivate}>
          Add the key
        </Button>
        {!isPrivate && <AsCommand command={["ssh-key", "create", body.ssh_key]} request={requestOf(body)} />}
      </div>
    </form>
  );
}

/** Makes a key in the browser: its private half is saved as a file and sent nowhere. */
export function SshKeyMake({ onDone }: { readonly onDone: () => void }) {
  const [name, setName] = useState("");
  const add = useAction(sshKeyCreate, { changes: ["key"] });
  const make = useMutation({
    async mutationFn(comment: string) {
      const { line, file } = await newPair(comment);
      await add.mutateAsync({ body: { ssh_key: line } });
      saveFile(FILE_NAME, file);
    },
    onSuccess: onDone,
  });
  if (!globalThis.isSecureContext) {
    return (
      <p className={classes["hint"]}>
        Browsers make keys only on pages with TLS. Make one with <code>ssh-keygen -t ed25519</code>, and paste its
        public half.
      </p>
    );
  }
  return (
    <form
      className={classes["wide"]}
      onSubmit={(event) => {
        event.preventDefault();
        make.mutate(name.trim());
      }}
    >
      <p className={classes["hint"]}>
        Your browser makes an Ed25519 key and saves its private half as the file <code>{FILE_NAME}</code>. The server
        gets the public half only. Keep the file: nobody can give it to you again.
      </p>
      <TextInput
        label="Name"
        description="Tells your keys apart, such as you@laptop."
        maxLength={64}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        required
      />
      {make.error !== null && <Failure error={make.error} onRetry={() => make.mutate(name.trim())} />}
      <div className={classes["buttons"]}>
        <Button type="submit" loading={make.isPending}>
          Make and save the key
        </Button>
      </div>
      <p className={classes["hint"]}>
        Then: <code>chmod 600 {FILE_NAME}</code>, and <code>ssh -i {FILE_NAME} …</code>
      </p>
    </form>
  );
}

async function newPair(comment: string): Promise<{ readonly line: string; readonly file: string }> {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  if (!("privateKey" in pair)) throw new Error("the browser made no pair of keys");
  const publicKey = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
  // In PKCS 8 the key itself is at the end.
  const seed = new Uint8Array(await crypto.subtle.exportKey("pkcs8", pair.privateKey)).slice(-32);
  const check = crypto.getRandomValues(new Uint8Array(4));
  return { line: publicLine(publicKey, comment), file: privateFile({ seed, publicKey }, comment, check) };
}

function requestOf(body: { readonly ssh_key: string }) {
  return { method: "POST", path: "/api/v0/ssh/", body };
}
