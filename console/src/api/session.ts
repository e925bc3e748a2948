import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import {
  browserConfirm,
  browserLeaveView,
  browserSignIn,
  browserSignOut,
  browserSwitchAccount,
  type BrowserConfirmRequest,
  type BrowserSignIn,
  type BrowserSignInRequest,
  type TfaMethod,
} from "../../../sdk/src/index.ts";
import { client } from "./client.ts";

/** A sign-in that waits for a second factor. */
export type FactorStep = {
  readonly secret: string;
  readonly methods: readonly TfaMethod[];
  readonly hasBackupCodes: boolean;
  readonly confirm: (input: Omit<BrowserConfirmRequest, "secret">) => void;
  readonly error: Error | null;
  readonly isBusy: boolean;
};

type SignInAnswer = Pick<BrowserSignIn, "id" | "msg" | "secret" | "methods" | "num_backup_codes">;

/**
 * Starts a session of this browser: the server answers with a cookie that scripts cannot read. `secretSoFar` is that of a
 * sign-in which began elsewhere and waits for its second factor. `onDone` gets the account that is signed in.
 */
export function useSignIn(onDone: (accountId: number | undefined) => void, secretSoFar?: string) {
  const [waiting, setWaiting] = useState<SignInAnswer | undefined>(
    secretSoFar === undefined ? undefined : { secret: secretSoFar, num_backup_codes: 1 },
  );
  const take = (answer: SignInAnswer) => (answer.msg === "2fa_required" ? setWaiting(answer) : onDone(answer.id));
  const begin = useMutation({
    mutationFn: (body: BrowserSignInRequest) => browserSignIn(client, { body }),
    onSuccess: take,
  });
  const confirm = useMutation({
    mutationFn: (body: BrowserConfirmRequest) => browserConfirm(client, { body }),
    onSuccess: ({ id }) => onDone(id),
  });
  const secret = waiting?.secret;
  const factor: FactorStep | undefined =
    secret === undefined
      ? undefined
      : {
          secret,
          methods: waiting?.methods ?? [],
          hasBackupCodes: (waiting?.num_backup_codes ?? 0) > 0,
          confirm: (input) => confirm.mutate({ ...input, secret }),
          error: confirm.error,
          isBusy: confirm.isPending,
        };
  const startAgain = () => {
    confirm.reset();
    setWaiting(undefined);
  };
  return { begin: begin.mutate, take, error: begin.error, isBusy: begin.isPending, factor, startAgain };
}

/** Acts for a team from now on, or for the person themselves without one. */
export function useSwitchAccount() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (teamId: number | undefined) =>
      browserSwitchAccount(client, { body: teamId === undefined ? {} : { team_id: teamId } }),
    onSuccess: () => {
      queries.clear();
      // Loading the page again leaves nothing of the other account on the screen.
      globalThis.location.assign("/");
    },
  });
}

/** Leaves the view of another account, and goes to its record. */
export function useLeaveView() {
  return useMutation({
    mutationFn: () => browserLeaveView(client),
    onSuccess: ({ user_id: id }) => {
      // Loading the page again leaves nothing of the account that was seen in the memory of the browser.
      globalThis.location.assign(id === null ? "/" : `/operate/users/${id}`);
    },
  });
}

/** Ends the session of this browser and forgets what it has shown. */
export function useSignOut() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: () => browserSignOut(client),
    onSettled: () => {
      queries.clear();
      // Loading the page again leaves nothing of the account in the memory of the browser.
      globalThis.location.assign("/sign-in");
    },
  });
}
