import { Tooltip } from "@mantine/core";
import { type StateWord, stateWord } from "../text/states.ts";
import { HostileText } from "./HostileText.tsx";
import { Icon } from "./Icon.tsx";
import classes from "./state.module.css";

type Props = {
  /** A state of the API, or a word of its own. */
  readonly state: string | StateWord;
  /** One sentence: "Running for 2 h 14 m". It is shown on hover and focus, or beside the word. */
  readonly sentence?: string | undefined;
  readonly isSentenceShown?: boolean;
};

/** A state by word, colour and icon. */
export function StateBadge({ state, sentence, isSentenceShown = false }: Props) {
  const { word, tone, icon } = typeof state === "string" ? stateWord(state) : state;
  const badge = (
    <span
      className={classes["badge"]}
      data-tone={tone}
      tabIndex={sentence !== undefined && !isSentenceShown ? 0 : undefined}
    >
      <Icon name={icon} size={12} />
      <HostileText text={word} />
    </span>
  );
  if (sentence === undefined) return badge;
  if (!isSentenceShown) return <Tooltip label={sentence}>{badge}</Tooltip>;
  return (
    <span className={classes["line"]}>
      {badge} <HostileText text={sentence} />
    </span>
  );
}
