import { Button, TextInput } from "@mantine/core";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { useSignIn } from "../../api/session.ts";
import { Failure } from "../../parts/Failure.tsx";
import { PageHead } from "../../ui/PageHead.tsx";

const route = getRouteApi("/outer/sign-in");

/** Signs in with a key of the account. */
export function SignIn() {
  const { next } = route.useSearch();
  const [key, setKey] = useState("");
  const navigate = useNavigate();
  const signIn = useSignIn(() => void navigate({ to: next ?? "/", replace: true }));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate({ api_key: key.trim() });
  };
  return (
    <form onSubmit={submit}>
      <PageHead title="Sign in" />
      <TextInput
        label="API key"
        description="The key that the command line uses. It is exchanged for a session and not kept."
        type="password"
        autoComplete="off"
        value={key}
        onChange={(event) => setKey(event.currentTarget.value)}
        required
      />
      <Button type="submit" fullWidth size="sm" mt={16} mb={16} loading={signIn.isPending}>
        Sign in
      </Button>
      {signIn.error !== null && <Failure error={signIn.error} />}
    </form>
  );
}
