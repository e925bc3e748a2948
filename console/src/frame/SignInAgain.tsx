import { Modal } from "@mantine/core";
import { Suspense, useSyncExternalStore } from "react";
import { lazyPart } from "../code.ts";
import { session } from "../api/query-client.ts";
import { Waiting } from "../ui/Waiting.tsx";

/** Above dialogs and panels, in one of which the person may have been typing. */
const ABOVE_ALL = 500;

const Form = lazyPart(() => import("../pages/sign-in/Again.tsx"), "Again");

/** Asks a person whose session has ended to sign in again, over the page, so that nothing that they typed is lost. */
export function SignInAgain() {
  const isOver = useSyncExternalStore(session.watch, session.isOver);
  return (
    <Modal
      opened={isOver}
      onClose={() => undefined}
      title="Your session has ended"
      centered
      zIndex={ABOVE_ALL}
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
    >
      <Suspense fallback={<Waiting rows={3} />}>
        <Form />
      </Suspense>
    </Modal>
  );
}
