import { type ReactNode, useState } from "react";
import { Confirm } from "../ui/Confirm.tsx";
import { HostileText } from "../ui/HostileText.tsx";
import { ActionButton } from "./ActionButton.tsx";
import { Failure } from "./Failure.tsx";

type Action<I> = {
  readonly mutate: (input: I, options?: { readonly onSuccess?: () => void }) => void;
  readonly reset: () => void;
  readonly isPending: boolean;
  readonly error: Error | null;
};
type Props<I> = {
  /** The action that takes something away, of `useAction`, and what it is called with. */
  readonly action: Action<I>;
  readonly input: I;
  /** Names the thing: `SSH key 7`. */
  readonly what: string;
  /** The verb: "Delete" unless something else is meant. */
  readonly verb?: string;
  readonly loss: ReactNode;
  /** The reason why it is not possible now, from the server. */
  readonly reason?: string | undefined;
  /** The same without the console. */
  readonly asCommand?: ReactNode;
};

/** A button that takes something away, after a question that says what is lost. */
export function RemoveButton<I>({ action, input, what, verb = "Delete", loss, reason, asCommand }: Props<I>) {
  const [isAsked, setAsked] = useState(false);
  const close = () => {
    setAsked(false);
    action.reset();
  };
  return (
    <>
      <ActionButton size="compact-xs" onClick={() => setAsked(true)} reason={reason}>
        {verb}
        <span className="visually-hidden">
          {" "}
          <HostileText text={what} />
        </span>
      </ActionButton>
      <Confirm
        isOpen={isAsked}
        title={
          <>
            {verb} <HostileText text={what} />?
          </>
        }
        action={verb}
        loss={
          <>
            {loss}
            {asCommand !== undefined && <div style={{ marginTop: 12 }}>{asCommand}</div>}
          </>
        }
        isBusy={action.isPending}
        onConfirm={() => action.mutate(input, { onSuccess: close })}
        onClose={close}
      >
        {isAsked && action.error !== null && <Failure error={action.error} />}
      </Confirm>
    </>
  );
}
